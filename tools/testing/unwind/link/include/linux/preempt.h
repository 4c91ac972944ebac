/* SPDX-License-Identifier: GPL-2.0 */
/* Without uprobes, the context does not matter. */
