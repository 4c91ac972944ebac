/* SPDX-License-Identifier: GPL-2.0 */
/* Which tools/include has elsewhere. */
#include <linux/kernel.h>
