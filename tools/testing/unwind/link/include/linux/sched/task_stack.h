/* SPDX-License-Identifier: GPL-2.0 */
/* Nor about its registers. */
