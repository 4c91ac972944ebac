// SPDX-License-Identifier: GPL-2.0
/*
 * A function for GNU make: $(exit N) ends make with the status N.  "make guest" uses it
 * for the status of the guest's command.
 *
 * The object is built in the Debian root and loaded into the host's make.  So it takes
 * no version of a symbol from the C library's headers.
 */
#include <gnumake.h>

void exit(int status);
int atoi(const char *string);

/* make loads no other objects */
int plugin_is_GPL_compatible;

static char *make_exit(const char *name, unsigned int argc, char **argv)
{
	exit(atoi(argv[0]));
	return 0;
}

int make_exit_gmk_setup(void)
{
	gmk_add_function("exit", make_exit, 1, 1, 0);
	return 1;
}
