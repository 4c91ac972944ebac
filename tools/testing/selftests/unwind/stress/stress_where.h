/* SPDX-License-Identifier: GPL-2.0 */
/* Which functions of the kernel NMIs hit, as far as they are of the unwinder. */
#ifndef SELFTEST_UNWIND_STRESS_WHERE_H
#define SELFTEST_UNWIND_STRESS_WHERE_H

struct unwind_stress_event;

/* Before the module goes, whose functions are looked up as well */
int where_init(void);
void where_event(const struct unwind_stress_event *event);
void where_print(void);

/* How many requests were made from NMIs that hit the core itself */
unsigned long where_in_core(void);

#endif /* SELFTEST_UNWIND_STRESS_WHERE_H */
