// SPDX-License-Identifier: GPL-2.0
/*
 * The model's clients, and the record of what the core promised them.
 *
 * An entry ends when the task's state becomes empty.  The model checks this after each
 * access of the core, in any context.  Within one entry all requests must get one
 * cookie, and no other entry has it.  If the task stays in the kernel for more than a tick
 * after a delivery, a later request must get a new cookie; for the model, that is another
 * entry of the same program.  After a delivery on the way back to user space, it must not.  For
 * each client and entry
 *
 *   - one request returns 0: the callback will come;
 *   - each other one returns 1: the client has asked before;
 *   - there is one callback, with that cookie and the program's stack, before the
 *     program runs again.
 *
 * Only a client that is cancelled may lose its callback, and may not get it after that.
 */

#include "deferred_copy.h"
#include "deferred_model.h"

/* The record of @client in an entry, which may be a new one */
static struct model_asked *find_asked(unsigned int client, unsigned int entry)
{
	struct model_asked *asked;

	for (asked = model.asked; asked < model.asked + model.nr_asked; asked++)
		if (asked->client == client && asked->entry == entry)
			return asked;
	if (model.nr_asked == MODEL_MAX_ASKED) {
		model_fail("the test has too many entries");
		model.nr_asked = 0;
	}
	asked = &model.asked[model.nr_asked++];
	*asked = (struct model_asked){ .client = client, .entry = entry };
	return asked;
}

/* All requests of an entry have one cookie, and no other entry has it */
static void check_cookie(unsigned int entry, u64 cookie)
{
	struct model_asked *asked;

	model_expect(cookie, "the cookie is 0");
	for (asked = model.asked; asked < model.asked + model.nr_asked; asked++) {
		if (!asked->cookie)
			continue;
		if (asked->entry == entry)
			model_expect(asked->cookie == cookie, "two cookies in one entry");
		else
			model_expect(asked->cookie != cookie, "one cookie in two entries");
	}
}

/* Called after each access: has the entry ended, or the stack another name? */
void model_accessed(void)
{
	struct unwind_task_info *info = &model.task->unwind_info;
	u64 cookie = atomic64_read(&info->cookie);
	unsigned long requests, last = model.last_requests;

	if (!model.running)
		return;
	requests = atomic_long_read(&info->requests);
	model.last_requests = requests;
	if (last && !requests) {
		model.entry++;
		model.worked = model.jiffies;
		model.unwound = false;
		model.closing = false;
		model.closed = false;
	} else if (!(last & UNWIND_NAMED)) {
		model.name = cookie;
	} else if (!(last & UNWIND_PENDING) && (requests & UNWIND_PENDING) &&
		   cookie != model.name) {
		model_expect(!model.calling && time_after(model.jiffies, model.delivered + 1) &&
			     time_after_eq(model.jiffies, model.worked),
			     "a new cookie too early");
		model.entry++;
		model.unwound = false;
		model.name = cookie;
	}
}

static struct model_client *client_of(struct unwind_work *work)
{
	return container_of(work, struct model_client, work);
}

static void called(struct unwind_work *work, struct unwind_stacktrace *trace,
		   u64 cookie)
{
	struct model_client *client = client_of(work);
	unsigned int nr = client - model.clients;
	struct model_asked *asked = find_asked(nr, model.entry);

	MODEL_STEP("callback");
	model_expect(client->state == MODEL_REGISTERED ||
		     client->state == MODEL_CANCELLING, "calls a client that is cancelled");
	model_expect(!model_irqs_disabled() && !model.rcu.depth,
		     "calls where a client cannot sleep");
	model_expect(!asked->called++, "calls a client twice");
	model.calling = true;
	check_cookie(model.entry, cookie);
	asked->cookie = cookie;

	if (model.scenario->no_memory || model.scenario->no_stack)
		model_expect(!trace->nr, "a stack from nowhere");
	else
		model_expect(trace->nr == 1 && trace->entries[0] == model.user_runs,
			     "not the stack of this entry");
	if (model.scenario->called)
		model.scenario->called(nr);
	MODEL_STEP("callback ends");
	model.calling = false;
	model.delivered = model.jiffies;
}

void model_register(unsigned int nr)
{
	struct model_client *client = &model.clients[nr];

	client->state = MODEL_REGISTERING;
	model_expect(!unwind_deferred_init(&client->work, called), "cannot register");
	client->state = MODEL_REGISTERED;
}

void model_cancel(unsigned int nr)
{
	struct model_client *client = &model.clients[nr];

	client->state = MODEL_CANCELLING;
	unwind_deferred_cancel(&client->work);
	client->state = MODEL_CANCELLED;
}

static void check_refused(int ret, enum model_client_state before,
			  enum model_client_state after)
{
	switch (ret) {
	case -EINVAL:
		model_expect(before != MODEL_REGISTERED || after != MODEL_REGISTERED ||
			     model.dead, "refuses a client that is registered");
		break;
	case -ESRCH:
		model_expect(model.closing || model.work_exited, "refuses where nothing ends");
		break;
	default:
		model_fail("returns what it must not");
	}
}

/* A request, in the context that the caller has set */
void model_ask(unsigned int nr)
{
	struct model_client *client = &model.clients[nr];
	enum model_client_state before = client->state;
	bool closed = model.closed || model.dead;
	unsigned long last = model.last_requests;
	u64 name = model.name, cookie = ~0ULL;
	unsigned int entry = model.entry;
	struct model_asked *asked;
	bool expired;
	int ret;

	expired = (last & UNWIND_NAMED) && !(last & UNWIND_PENDING) &&
		  !model.delivering && time_after(model.jiffies, model.worked + 1);

	ret = unwind_deferred_request(&client->work, &cookie);
	if (ret < 0) {
		model_expect(!cookie, "a refused request leaves a cookie");
		check_refused(ret, before, client->state);
		return;
	}
	model_expect(client->state != MODEL_UNKNOWN && client->state != MODEL_CANCELLED &&
		     before != MODEL_CANCELLED, "takes a request from one that is no client");
	model_expect(!closed, "takes a request after the end");
	model_expect(!expired || cookie != name, "keeps an old cookie");

	/* A nested request may have made a new cookie after this one was served */
	if (cookie != name)
		entry = model.entry;
	asked = find_asked(nr, entry);
	check_cookie(entry, cookie);
	asked->cookie = cookie;
	if (ret == 0)
		asked->queued++;
	else if (ret == 1)
		asked->known++;
	else
		model_fail("returns what it must not");
	model_expect(asked->queued <= 1, "promises two callbacks");
}

/* Has each client got its callbacks? Nothing is pending any more. */
void model_check_served(void)
{
	struct model_asked *asked;

	for (asked = model.asked; asked < model.asked + model.nr_asked; asked++) {
		enum model_client_state state = model.clients[asked->client].state;

		/* The core may drop requests of a client that is being cancelled */
		if (state != MODEL_REGISTERED || model.scenario->no_work)
			continue;
		model_expect(asked->queued, "a client that had not asked was told so, or called");
		model_expect(asked->called, "a client was not called");
	}
}

void model_check_user(void)
{
	struct unwind_task_info *info = &model.task->unwind_info;
	unsigned long requests = atomic_long_read(&info->requests);

	model_check_served();
	model_expect(!model.work && !test_bit(TIF_NOTIFY_RESUME, &model.flags),
		     "runs the program with work to do");
	model_expect(!atomic_long_read(&info->done), "runs the program with clients as called");
	model_expect(!info->cache && hweight_long(model.allocated) == copy_spares(false),
		     "runs the program with a buffer");
	/* A request that cannot be queued may leave a name, which the next exit clears */
	model_expect(!(requests & ~(model.scenario->no_work ? UNWIND_NAMED : 0)),
		     "runs the program with requests");
	model_expect(!test_bit(TIF_UNWIND, &model.flags) || model.scenario->no_work,
		     "runs the program with TIF_UNWIND");
	model_expect(!model.rcu.depth && !model.srcu.depth,
		     "runs the program in a read section");
}

void model_check_dead(void)
{
	struct unwind_task_info *info = &model.task->unwind_info;
	unsigned long requests = atomic_long_read(&info->requests);

	model_check_served();
	model_expect(!model.work && !(requests & UNWIND_PENDING), "dies with work to do");
	model_expect(requests & UNWIND_CLOSED, "dies open");
	model_expect(!info->cache && hweight_long(model.allocated) == copy_spares(false),
		     "dies with a buffer");
	model_expect(!model.rcu.depth && !model.srcu.depth, "dies in a read section");
}
