// SPDX-License-Identifier: GPL-2.0
/*
 * All plans of a scenario, one run for each.
 *
 * A plan grows by one event at a time: the run of the shorter plan has shown its number
 * of points, and which events are possible at each.  A new event comes after the last
 * one only, perhaps inside of the events that the last one started.
 *
 * To a nested event, the points after an access and before the next one are the same.
 * Plans of one event take both, so that each is seen to be hit.  Longer plans take points
 * before an access, unless the scenario wants both: then each point is hit, also at
 * accesses that only an event makes.
 */

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "deferred_copy.h"
#include "deferred_model.h"

struct explorer {
	const struct model_scenario	*scenario;
	struct model_counts		*counts;
	unsigned int			other_accesses;
	u8				can[MODEL_MAX_EVENTS][MODEL_MAX_POINTS];
};

static const char * const kind_names[MODEL_KINDS] = {
	[MODEL_NMI]	= "an NMI, asking",
	[MODEL_IRQ]	= "an interrupt, asking",
	[MODEL_TRACE]	= "a tracer, asking",
	[MODEL_OTHER]	= "the other CPU, accesses",
};

static void report(void)
{
	const struct model_event *event;
	const struct model_site *site;

	for (event = model.events; event < model.events + model.nr_events; event++) {
		site = event->site;
		kunit_info(model.test, "point %u, %s %s:%u (%s): %s 0x%x\n",
			   event->point, event->after ? "after" : "before",
			   site ? site->func : "?", site ? site->line : 0,
			   site ? site->op : "?", kind_names[event->kind], event->arg);
	}
	site = model.failed_at;
	KUNIT_FAIL(model.test, "%s; seen at %s:%u (%s)", model.failed,
		   site ? site->func : "?", site ? site->line : 0,
		   site ? site->op : "?");
}

void model_reset(const struct model_scenario *scenario)
{
	unsigned int nr;

	model.running = false;
	model_other_reset();
	model.scenario = scenario;
	memset(&model.run, 0, sizeof(model.run));
	for (nr = 0; nr < MODEL_CLIENTS; nr++) {
		struct model_client *client = &model.clients[nr];

		if (client->state == MODEL_REGISTERED && nr < 2)
			continue;
		unwind_deferred_cancel(&client->work);
		client->state = MODEL_UNKNOWN;
	}
	for (nr = 0; nr < 2; nr++)
		if (model.clients[nr].state == MODEL_UNKNOWN)
			model_register(nr);

	model.task->mm = (void *)model.task;
	model.task->flags = 0;
	unwind_task_init(model.task);
	copy_spares(true);
}

static bool run_plan(struct explorer *x)
{
	unsigned int i;

	model_reset(x->scenario);
	model.running = true;
	x->scenario->task();
	model_other_finish();
	model_check_served();
	model_expect(!model.locked, "ends with the lock held");
	model.running = false;

	x->counts->runs++;
	x->counts->points += model.points;
	for (i = 0; i < model.nr_events; i++)
		x->counts->events[model.events[i].kind]++;
	if (!model.failed)
		model_expect(model.next_event == model.nr_events,
			     "the plan has events that were not come to");
	if (model.failed)
		report();
	cond_resched();
	return !model.failed;
}

static bool explore(struct explorer *x);

/* Add one event to the plan, with each argument that makes a difference */
static bool add_event(struct explorer *x, unsigned int point, enum model_kind kind)
{
	static const unsigned int all_sets[] = { 1, 2, 3, 0 };
	const unsigned int *sets = x->scenario->sets[0] ? x->scenario->sets : all_sets;
	unsigned int n = model.nr_events++, m;
	struct model_event *event = &model.events[n];
	bool ok = true;

	*event = (struct model_event){ .point = point, .kind = kind };
	if (kind != MODEL_OTHER) {
		for (; ok && *sets; sets++) {
			/* The first event alone tries several clients that ask at once */
			if (n && hweight32(*sets) > 1)
				continue;
			event->arg = *sets;
			ok = explore(x);
		}
	} else if (n) {
		event->arg = MODEL_TO_END;
		ok = explore(x);
	} else {
		for (m = 1; ok && m <= x->other_accesses; m++) {
			event->arg = m;
			ok = explore(x);
		}
	}
	model.nr_events = n;
	return ok;
}

/* Run the plan, and then all plans that begin with it */
static bool explore(struct explorer *x)
{
	const u8 skip = x->scenario->each_side ? 0 : MODEL_AFTER;
	unsigned int n = model.nr_events, first = 0, last, point, kind;
	u8 *can;

	if (!run_plan(x))
		return false;
	if (!n)
		x->other_accesses = model_other_made();
	if (n == MODEL_MAX_EVENTS || !x->scenario->kinds[n])
		return true;

	can = x->can[n];
	last = model.points;
	memcpy(can, model.can, last);
	if (n) {
		first = model.events[n - 1].point + 1;
		/* Equal to the next point, whose plan is extended */
		if (can[first - 1] & skip)
			return true;
	}
	for (point = first; point < last; point++) {
		if (n && (can[point] & skip))
			continue;
		for (kind = 0; kind < MODEL_KINDS; kind++)
			if ((can[point] & x->scenario->kinds[n] & BIT(kind)) &&
			    !add_event(x, point, kind))
				return false;
	}
	return true;
}

void model_explore(struct kunit *test, const struct model_scenario *scenario,
		   struct model_counts *counts)
{
	struct explorer *x = kunit_kzalloc(test, sizeof(*x), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, x);
	x->scenario = scenario;
	x->counts = counts;
	model.test = test;
	model.nr_events = 0;
	explore(x);
	model_reset(scenario);
}

int model_create(void)
{
	unsigned int nr;

	model.task = kzalloc(sizeof(*model.task), GFP_KERNEL);
	model.memory = kzalloc(PAGE_SIZE, GFP_KERNEL);
	if (!model.task || !model.memory)
		return -ENOMEM;
	for (nr = 0; nr < MODEL_CLIENTS; nr++)
		model.clients[nr].work.bit = -1;
	copy_add_sites();
	return model_other_start();
}

void model_destroy(void)
{
	unsigned int nr;

	model_other_stop();
	for (nr = 0; nr < MODEL_CLIENTS; nr++) {
		unwind_deferred_cancel(&model.clients[nr].work);
		model.clients[nr].state = MODEL_UNKNOWN;
	}
	kfree(model.memory);
	kfree(model.task);
}
