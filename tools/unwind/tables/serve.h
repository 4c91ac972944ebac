/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands that deal with the running kernel: serve, status.
 */
#ifndef _UNWIND_TABLES_SERVE_H
#define _UNWIND_TABLES_SERVE_H

int cmd_serve(int argc, char **argv);
int cmd_status(int argc, char **argv);

#endif /* _UNWIND_TABLES_SERVE_H */
