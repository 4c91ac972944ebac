/* SPDX-License-Identifier: GPL-2.0 */
/* Without uprobes, no task is asked about. */
