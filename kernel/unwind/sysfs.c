// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/unwind: the features of the running kernel.
 *
 * "methods" lists the methods that find a function's caller, in the order in which
 * they are tried for each frame.  Signal frames and the link register are not listed:
 * each architecture that has them always uses them.
 */

#include <linux/init.h>
#include <linux/kobject.h>
#include <linux/sysfs.h>

static ssize_t methods_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%sfp\n",
			  IS_ENABLED(CONFIG_UNWIND_USER_SFRAME) ? "sframe " : "");
}

static struct kobj_attribute methods_attr = __ATTR_RO(methods);

static int __init unwind_sysfs_init(void)
{
	struct kobject *kobj = kobject_create_and_add("unwind", kernel_kobj);
	int ret;

	if (!kobj)
		return -ENOMEM;
	ret = sysfs_create_file(kobj, &methods_attr.attr);
	if (ret)
		kobject_put(kobj);
	return ret;
}
late_initcall(unwind_sysfs_init);
