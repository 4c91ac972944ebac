/* SPDX-License-Identifier: GPL-2.0 */
/* Registers are not asked for. */
