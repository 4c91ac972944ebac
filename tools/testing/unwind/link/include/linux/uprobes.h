/* SPDX-License-Identifier: GPL-2.0 */
/* There are none: CONFIG_UPROBES is not set. */
