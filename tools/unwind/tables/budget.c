// SPDX-License-Identifier: GPL-2.0
/*
 * The time that conversions may take, for each owner of files.
 *
 * A user can make, run and profile programs without end, and each is converted once.  Then
 * the files of others would wait.  So each user has BUDGET of every BUDGET_PERIOD.  A file
 * that is met beyond that gets its table later, when the kernel asks again.  Hundreds of
 * ordinary files are within it.  Root's files are the system's, and have no limit.
 *
 * In a user namespace, one user has many numbers.  When more users are active than can be
 * told apart, the service forgets the one who has spent least: nobody waits for the files
 * of others.
 */
#include <pthread.h>

#include "budget.h"

struct user {
	uid_t	uid;
	/* When its period began, and what it has used since */
	__u64	since;
	__u64	spent;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct user users[BUDGET_USERS];

/* A user without a period that runs has spent nothing; called with the lock */
static struct user *find(uid_t uid, __u64 now)
{
	struct user *user, *least = users;

	for (user = users; user < users + BUDGET_USERS; user++) {
		/* @now may be earlier: a conversion that took long has begun before */
		if ((__s64)(now - user->since) >= BUDGET_PERIOD)
			user->spent = 0;
		if (user->spent && user->uid == uid)
			return user;
		if (user->spent < least->spent)
			least = user;
	}
	*least = (struct user){ .uid = uid, .since = now };
	return least;
}

/**
 * budget_left - may a file be converted now?
 * @uid: its owner
 * @now: time in milliseconds, by a clock that nobody sets
 *
 * Return: whether it may.
 */
bool budget_left(uid_t uid, __u64 now)
{
	bool left;

	if (!uid)
		return true;
	pthread_mutex_lock(&lock);
	left = find(uid, now)->spent < BUDGET;
	pthread_mutex_unlock(&lock);
	return left;
}

/**
 * budget_spend - a file was converted
 * @uid: its owner
 * @now: as for budget_left()
 * @ms: how long that took
 *
 * Return: whether the owner's budget has just come to its end.
 */
bool budget_spend(uid_t uid, __u64 now, __u64 ms)
{
	struct user *user;
	bool had;

	if (!uid)
		return false;
	pthread_mutex_lock(&lock);
	user = find(uid, now);
	had = user->spent < BUDGET;
	/* Every file costs something, also if it takes less than a millisecond */
	user->spent += ms + 1;
	had &= user->spent >= BUDGET;
	pthread_mutex_unlock(&lock);
	return had;
}
