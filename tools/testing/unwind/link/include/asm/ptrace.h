/* SPDX-License-Identifier: GPL-2.0 */
/* No code here needs registers. */
