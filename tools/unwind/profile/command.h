/* SPDX-License-Identifier: GPL-2.0 */
/* The profiled command, and signals that end the profile */
#ifndef UNWIND_PROFILE_COMMAND_H
#define UNWIND_PROFILE_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

struct command {
	pid_t	pid;
	/* A byte starts it */
	int	go;
	bool	ended;
	int	status;
};

/* Fork a child that waits; 0 or -1 */
int fork_command(struct command *command, char **argv);
int start_command(struct command *command);
/* Has it ended? With @wait, until it has */
bool has_ended(struct command *command, bool wait);
/* As a shell has it */
int exit_status(const struct command *command);

/*
 * From now on, SIGINT, SIGTERM and SIGHUP end the profile. The terminal sends them to the
 * command as well. Another process does not, so they are passed on. The second one has
 * its usual effect.
 */
void catch_signals(const struct command *command);
bool was_stopped(void);

#endif /* UNWIND_PROFILE_COMMAND_H */
