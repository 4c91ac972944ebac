/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two halves of the sample client: client.c asks for stacks and gets them;
 * another file decides when, by interrupts that nothing masks.
 */
#ifndef _SAMPLES_UNWIND_CLIENT_H
#define _SAMPLES_UNWIND_CLIENT_H

/**
 * client_request - ask for the user stack of the current task
 *
 * Context: any, NMI included.
 */
void client_request(void);

/**
 * trigger_start - start calling client_request() from NMIs
 * @rate: calls per second, on each CPU
 *
 * Return: 0, or an error: then it is not called.
 */
int trigger_start(unsigned int rate);

/**
 * trigger_stop - stop calling client_request()
 *
 * When this returns, client_request() does not run and will not be called.
 */
void trigger_stop(void);

#endif /* _SAMPLES_UNWIND_CLIENT_H */
