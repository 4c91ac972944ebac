// SPDX-License-Identifier: GPL-2.0
/* The command line. perf record, bpftrace and bcc have the same names for most */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define USAGE "usage: unwind-profile [OPTION]... [COMMAND [ARGUMENT]...]\n"

static const char help[] = USAGE "\n"
"Profile a command with its children, or the processes that options say, until the\n"
"command ends or ^C, and write the stacks.\n"
"\n"
"  -p, --pid PID[,PID]...  these processes, with all their threads\n"
"  -a, --all               all processes (also without -p and a command)\n"
"      --cgroup DIR        only what is in this cgroup (v2), or below it\n"
"  -d, --duration SECONDS  end after that time\n"
"  -F, --frequency HZ      samples per second and CPU (99)\n"
"      --off-cpu           where threads sleep, and for how long\n"
"  -o, --output FILE       instead of standard output\n"
"      --format FORMAT     folded: for flame graphs, one stack per line (default)\n"
"                          pprof: profile.proto, compressed\n"
"                          script: the text of perf script\n"
"      --max-stacks N      bound on memory: different stacks (65536)\n"
"      --buffer KIB        the ring buffer's size: a power of two (16384)\n"
"  -h, --help\n";

enum { CGROUP = 256, OFF_CPU, FORMAT, MAX_STACKS, BUFFER };

static const struct option names[] = {
	{ "pid", required_argument, NULL, 'p' },
	{ "all", no_argument, NULL, 'a' },
	{ "cgroup", required_argument, NULL, CGROUP },
	{ "duration", required_argument, NULL, 'd' },
	{ "frequency", required_argument, NULL, 'F' },
	{ "off-cpu", no_argument, NULL, OFF_CPU },
	{ "output", required_argument, NULL, 'o' },
	{ "format", required_argument, NULL, FORMAT },
	{ "max-stacks", required_argument, NULL, MAX_STACKS },
	{ "buffer", required_argument, NULL, BUFFER },
	{ "help", no_argument, NULL, 'h' },
	{}
};

static _Noreturn void refuse(const char *what, const char *text)
{
	if (what)
		warnx("%s: %s", text, what);
	fputs(USAGE, stderr);
	exit(2);
}

static unsigned long long number(const char *text, unsigned long long least,
				 unsigned long long most, const char *what)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || value < least || value > most)
		refuse(what, text);
	return value;
}

static unsigned long long duration(const char *text)
{
	double seconds;
	char *end;

	seconds = strtod(text, &end);
	/* Not "nan" either */
	if (*end || !(seconds > 0 && seconds <= 1e9))
		refuse("not a number of seconds", text);
	return seconds * 1e9;
}

static void read_pids(struct options *options, char *text)
{
	char *pid;

	while ((pid = strsep(&text, ","))) {
		if (options->nr_pids == PIDS_MAX)
			refuse("too many processes", pid);
		options->pid[options->nr_pids++] = number(pid, 1, 1 << 22, "not a process");
	}
}

static const struct output *find_format(const char *name)
{
	static const struct output * const formats[] = { &folded, &pprof, &script };
	unsigned int i;

	for (i = 0; i < 3; i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	refuse("not a format", name);
}

static void read_option(struct options *options, int option)
{
	switch (option) {
	case 'p':
		read_pids(options, optarg);
		break;
	case 'a':
		options->all = true;
		break;
	case CGROUP:
		options->cgroup = optarg;
		break;
	case 'd':
		options->duration = duration(optarg);
		break;
	case 'F':
		options->hertz = number(optarg, 1, 1000000, "not a frequency");
		break;
	case OFF_CPU:
		options->off_cpu = true;
		break;
	case 'o':
		options->out = optarg;
		break;
	case FORMAT:
		options->format = find_format(optarg);
		break;
	case MAX_STACKS:
		options->max_stacks = number(optarg, 16, 1 << 24, "not from 16 to 16777216");
		break;
	case BUFFER:
		options->buffer = number(optarg, 16, 1 << 20, "not from 16 to 1048576") << 10;
		if (options->buffer & (options->buffer - 1))
			refuse("not a power of two", optarg);
		break;
	case 'h':
		fputs(help, stdout);
		exit(0);
	default:
		refuse(NULL, NULL);
	}
}

void read_options(struct options *options, int argc, char **argv)
{
	int option;

	*options = (struct options){
		.hertz = 99,
		.format = &folded,
		.max_stacks = DEFAULT_STACKS,
		.buffer = 16 << 20,
	};
	/* The rest of the line is the command's */
	while ((option = getopt_long(argc, argv, "+p:ad:F:o:h", names, NULL)) >= 0)
		read_option(options, option);
	if (argv[optind])
		options->command = argv + optind;
	if (options->all && options->nr_pids)
		refuse("all processes, or these", "-a -p");
}
