/* SPDX-License-Identifier: GPL-2.0 */
/* Without uprobes, it does not matter where. */
