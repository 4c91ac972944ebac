/* SPDX-License-Identifier: GPL-2.0 */
/* Shared declarations of the stress module; stress_main.c describes it. */
#ifndef _KERNEL_UNWIND_TESTS_STRESS_H
#define _KERNEL_UNWIND_TESTS_STRESS_H

#include <linux/types.h>

#include "stress_uapi.h"

struct pt_regs;
struct seq_file;

/* stress_log.c */
int stress_log_start(u32 requests);
void stress_log_free(void);
struct unwind_stress_event *stress_log_event(u8 type);
struct unwind_stress_event *stress_log_request(void);
u32 stress_log_used(void);
bool stress_log_complete(void);
void stress_log_stop(void);
int stress_log_wait(void);
ssize_t stress_log_read(char __user *buf, size_t size, loff_t *pos);

/* stress_client.c */
extern u32 stress_session;
extern u32 stress_hold;
extern u32 stress_hold_changes;

u32 stress_random(void);
void stress_ask_some(u8 context, u64 addr);
int stress_set_clients(unsigned long mask);
void stress_wake_holder(void);
int stress_borrow_mm(void);

/* stress_fire.c */
int stress_fire_start(u32 rate);
void stress_fire_stop(void);
void stress_nmi(struct pt_regs *regs);
void stress_show_counts(struct seq_file *m);

/*
 * stress_nmi_x86.c or stress_nmi_perf.c: NMIs come, once in @period nanoseconds if
 * they come by themselves, and call stress_nmi()
 */
int stress_nmi_start(u32 period);
void stress_nmi_stop(void);
/* If NMIs have to be sent: send some, from any context */
void stress_send_nmis(void);

#endif /* _KERNEL_UNWIND_TESTS_STRESS_H */
