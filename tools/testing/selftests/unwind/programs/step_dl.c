// SPDX-License-Identifier: GPL-2.0
/*
 * Load a library, call it, unload it, and repeat that.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

long from_program(long n)
{
	return n + 3;
}

static int load_and_call(const char *path)
{
	long (*plugin)(long n);
	void *lib;

	lib = dlopen(path, RTLD_LAZY);
	if (!lib)
		return 1;
	plugin = (long (*)(long))dlsym(lib, "plugin");
	if (!plugin || !plugin(4) || !plugin(5))
		return 2;
	if (dlsym(lib, "no_such_function") || !dlerror())
		return 3;
	return dlclose(lib) ? 4 : 0;
}

int main(void)
{
	char path[PATH_MAX] = "";
	int i, ret = 0;

	if (readlink("/proc/self/exe", path, sizeof(path) - 32) < 0)
		return 1;
	snprintf(strrchr(path, '/'), 32, "/step_plugin.so");
	for (i = 0; i < 2 && !ret; i++)
		ret = load_and_call(path);
	return ret;
}
