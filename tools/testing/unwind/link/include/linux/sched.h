/* SPDX-License-Identifier: GPL-2.0 */
/* Without uprobes, no code needs the task. */
