// SPDX-License-Identifier: GPL-2.0
/*
 * The limit of time for files of one user.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../budget.h"

#define SUBJECT	"budget"
#include "result.h"

/* No user has spent anything at the beginning of a test */
#define LATER	(10 * BUDGET_PERIOD)

static void test_end(__u64 now)
{
	bool first = budget_spend(1, now, BUDGET / 2);
	bool second = budget_spend(1, now + 1, BUDGET / 2);
	bool third = budget_spend(1, now + 2, BUDGET);

	result(!first && second && !third, "its end is reported once");
	result(!budget_left(1, now + 3), "who has spent it waits");
	result(budget_left(2, now + 3), "others do not wait");
	result(!budget_left(1, now + BUDGET_PERIOD - 1) && budget_left(1, now + BUDGET_PERIOD),
	       "there is a new one after the period");
	result(!budget_spend(1, now + BUDGET_PERIOD, 1) && budget_left(1, now + BUDGET_PERIOD),
	       "the new one is a whole one");
}

static void test_many_files(__u64 now)
{
	unsigned int i;

	for (i = 0; i < 1000; i++)
		budget_spend(1, now, 10);
	result(budget_left(1, now), "a thousand ordinary files are within it");
	for (i = 0; i < BUDGET; i++)
		budget_spend(1, now, 0);
	result(!budget_left(1, now), "files that take no time count, too");
}

static void test_root(__u64 now)
{
	result(!budget_spend(0, now, 10 * BUDGET) && budget_left(0, now),
	       "root's files have none");
}

static void test_many_users(__u64 now)
{
	unsigned int uid;
	bool left = true;

	for (uid = 1; uid <= BUDGET_USERS; uid++) {
		left &= budget_left(uid, now);
		budget_spend(uid, now, BUDGET);
	}
	result(left && !budget_left(1, now) && !budget_left(BUDGET_USERS, now),
	       "each user has one");
	now += BUDGET_PERIOD;
	left = budget_left(BUDGET_USERS + 1, now);
	for (uid = 1; uid <= BUDGET_USERS; uid++)
		left &= budget_left(uid, now);
	result(left, "all have a new one after the period");
}

/* One user can be any number of them */
static void test_crowd(__u64 now)
{
	unsigned int uid;
	bool left = true;

	budget_spend(1, now, BUDGET);
	for (uid = 2; uid < 70000; uid++) {
		left &= budget_left(uid, now);
		budget_spend(uid, now, 1);
	}
	budget_spend(uid, now, BUDGET);
	result(left && budget_left(uid + 1, now), "a crowd spends nobody else's");
	result(!budget_left(1, now) && !budget_left(uid, now),
	       "who has spent it waits, also in a crowd");
}

/* Time is spent from when a conversion begins, and noted when it ends */
static void test_order(__u64 now)
{
	budget_spend(1, now + 5, BUDGET);
	budget_spend(2, now, 10);
	result(!budget_left(1, now + 6), "a conversion that began before ends no other's period");
	budget_spend(1, now, 10);
	result(!budget_left(1, now + 6), "nor its own user's period");
}

static void test_owners(void)
{
	int fd = memfd_create("file", MFD_CLOEXEC);
	struct stat system, elsewhere;
	bool ok = !stat("/", &system) && !fstat(fd, &elsewhere);

	close(fd);
	system.st_uid = 0;
	elsewhere.st_uid = 0;
	ok &= !budget_owner(&system) && budget_owner(&elsewhere) >= BUDGET_DEVICE;
	elsewhere.st_uid = 5;
	result(ok && budget_owner(&elsewhere) == 5,
	       "root's files are the system's where the system is");
}

int main(void)
{
	test_owners();
	test_end(LATER);
	test_many_files(2 * LATER);
	test_root(3 * LATER);
	test_many_users(4 * LATER);
	test_crowd(5 * LATER);
	test_order(6 * LATER);
	return end_results();
}
