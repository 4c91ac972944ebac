/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNWIND_PUT_H
#define UNWIND_PUT_H

/* Write a word to a file of the kernel's, in one call; 0 or -errno */
int put_word(const char *dir, const char *name, const char *word);

#endif /* UNWIND_PUT_H */
