// SPDX-License-Identifier: GPL-2.0
/* The profiled command, see command.h */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"

/* The signal handler has these, too */
static bool stopped;
static pid_t child;

int fork_command(struct command *command, char **argv)
{
	int go[2], status = 127;
	char c;

	/* The child has the signals that we were given */
	if (pipe(go))
		return -1;
	command->pid = fork();
	command->go = go[1];
	if (command->pid) {
		close(go[0]);
		return command->pid < 0 ? -1 : 0;
	}
	close(go[1]);
	/* Nothing comes if the profiler is gone */
	if (read(go[0], &c, 1) == 1) {
		close(go[0]);
		execvp(argv[0], argv);
		status = errno == ENOENT ? 127 : 126;
		perror(argv[0]);
	}
	_exit(status);
}

int start_command(struct command *command)
{
	int error = write(command->go, "", 1) == 1 ? 0 : -1;

	close(command->go);
	return error;
}

bool has_ended(struct command *command, bool wait)
{
	pid_t pid;

	if (command->ended)
		return true;
	do
		pid = waitpid(command->pid, &command->status, wait ? 0 : WNOHANG);
	while (wait && pid < 0 && errno == EINTR);
	if (!pid)
		return false;
	__atomic_store_n(&child, 0, __ATOMIC_RELAXED);
	command->ended = true;
	return true;
}

int exit_status(const struct command *command)
{
	return WIFEXITED(command->status) ? WEXITSTATUS(command->status) :
	       128 + WTERMSIG(command->status);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	pid_t pid = __atomic_load_n(&child, __ATOMIC_RELAXED);
	int saved = errno;

	__atomic_store_n(&stopped, true, __ATOMIC_RELAXED);
	if (pid > 0 && info->si_code <= 0)
		kill(pid, signal);
	errno = saved;
}

void catch_signals(const struct command *command)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = {
		.sa_sigaction = on_signal,
		.sa_flags = SA_SIGINFO | SA_RESETHAND,
	};
	unsigned int i;

	__atomic_store_n(&child, command->pid, __ATOMIC_RELAXED);
	for (i = 0; i < 3; i++)
		sigaction(signals[i], &action, NULL);
}

bool was_stopped(void)
{
	return __atomic_load_n(&stopped, __ATOMIC_RELAXED);
}
