// SPDX-License-Identifier: GPL-2.0
/*
 * The time that conversions may take, for each owner of files.
 *
 * A user can make, run and profile programs without end, and each is converted once.  Then
 * the files of others would wait.  So each user has BUDGET of every BUDGET_PERIOD.  A file
 * that is met beyond that gets its table later, when the kernel asks again.  Hundreds of
 * ordinary files are within it.  The system's own files have no limit: root's, on the file
 * systems of / and /usr.  Root's files elsewhere may belong to a container's root, or to an
 * image that a user has mounted: each such file system counts as a user.
 *
 * In a user namespace, one user has many numbers.  When more users are active than can be
 * told apart, the service forgets the one who has spent least: nobody waits for the files
 * of others.
 */
#include <pthread.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "budget.h"

struct user {
	__u64	owner;
	/* When its period began, and what it has used since */
	__u64	since;
	__u64	spent;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct user users[BUDGET_USERS];

/* A user without a period that runs has spent nothing; called with the lock */
static struct user *find(__u64 owner, __u64 now)
{
	struct user *user, *least = users;

	for (user = users; user < users + BUDGET_USERS; user++) {
		/* @now may be earlier: a conversion that took long has begun before */
		if ((__s64)(now - user->since) >= BUDGET_PERIOD)
			user->spent = 0;
		if (user->spent && user->owner == owner)
			return user;
		if (user->spent < least->spent)
			least = user;
	}
	*least = (struct user){ .owner = owner, .since = now };
	return least;
}

static bool is_of_system(dev_t dev)
{
	struct stat root, usr;

	return (!stat("/", &root) && root.st_dev == dev) ||
	       (!stat("/usr", &usr) && usr.st_dev == dev);
}

/**
 * budget_owner - who pays for the conversion of a file?
 * @st: the file
 *
 * Return: a user's number; 0 if the file is the system's; a number of BUDGET_DEVICE and more for
 * root's files on other file systems.
 */
__u64 budget_owner(const struct stat *st)
{
	if (st->st_uid)
		return st->st_uid;
	return is_of_system(st->st_dev) ? 0 : BUDGET_DEVICE + st->st_dev;
}

/**
 * budget_left - may a file be converted now?
 * @owner: from budget_owner()
 * @now: time in milliseconds, by a clock that nobody sets
 *
 * Return: whether it may.
 */
bool budget_left(__u64 owner, __u64 now)
{
	bool left;

	if (!owner)
		return true;
	pthread_mutex_lock(&lock);
	left = find(owner, now)->spent < BUDGET;
	pthread_mutex_unlock(&lock);
	return left;
}

/**
 * budget_spend - a file was converted
 * @owner: as for budget_left()
 * @now: as for budget_left()
 * @ms: how long that took
 *
 * Return: whether the owner's budget has just come to its end.
 */
bool budget_spend(__u64 owner, __u64 now, __u64 ms)
{
	struct user *user;
	bool had;

	if (!owner)
		return false;
	pthread_mutex_lock(&lock);
	user = find(owner, now);
	had = user->spent < BUDGET;
	/* Every file costs something, also if it takes less than a millisecond */
	user->spent += ms + 1;
	had &= user->spent >= BUDGET;
	pthread_mutex_unlock(&lock);
	return had;
}
