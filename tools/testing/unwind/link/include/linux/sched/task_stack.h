/* SPDX-License-Identifier: GPL-2.0 */
/* Nor its registers. */
