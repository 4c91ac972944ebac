/* SPDX-License-Identifier: GPL-2.0 */
/* le32_to_cpu() is in there. */
#include <linux/kernel.h>
