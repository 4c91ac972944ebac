/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two protocols of systemd: a service says that it is ready, and gets its descriptors back.
 */
#ifndef _UNWIND_TABLES_SERVICE_H
#define _UNWIND_TABLES_SERVICE_H

#include <stdbool.h>

int service_stored_fd(const char *name);
bool service_drop_stored(const char *prefix);
int service_notify(const char *message, int fd);

#endif /* _UNWIND_TABLES_SERVICE_H */
