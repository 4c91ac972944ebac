// SPDX-License-Identifier: GPL-2.0
/* Memory that can run out: see linux/slab.h in ../include. */
#include <linux/slab.h>

unsigned long slab_fail_at;
long slab_used;

void *slab_count(void *p)
{
	if (slab_fail_at && !--slab_fail_at) {
		free(p);
		return NULL;
	}
	slab_used += !!p;
	return p;
}
