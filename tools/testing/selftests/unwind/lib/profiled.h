/* SPDX-License-Identifier: GPL-2.0 */
/* What profiled.c does, and bpf_profile.c expects */
#ifndef SELFTEST_UNWIND_PROFILED_H
#define SELFTEST_UNWIND_PROFILED_H

#define ROUNDS	40
#define NAP_US	10000
#define SPINS	40000000

#endif /* SELFTEST_UNWIND_PROFILED_H */
