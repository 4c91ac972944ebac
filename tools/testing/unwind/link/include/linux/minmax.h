/* SPDX-License-Identifier: GPL-2.0 */
/* In tools/include, another header has its contents. */
#include <linux/kernel.h>
