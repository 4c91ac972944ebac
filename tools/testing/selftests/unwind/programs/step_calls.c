// SPDX-License-Identifier: GPL-2.0
/*
 * All that a compiler does with a stack, in a program without a C library.
 *
 * It is compiled in many ways. The test steps through each variant, from the first
 * instruction to the last. Every function runs at several depths of recursion, because a
 * stack differs with each frame further out.
 */
#include <linux/compiler.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "step_calls.h"

/* Unknown to the compiler: other files could change them */
long sink;
int one = 1;

long leaf(long a, long b)
{
	return a * b + one;
}

static long non_leaf(long a)
{
	return leaf(a, 3) + leaf(4, a);
}

/* The registers are saved on one path only */
long shrink_wrapped(long n)
{
	long i, a = 1, b = 2, c = 3, d = 4;

	if (n <= 0)
		return n;
	for (i = 0; i < n; i++) {
		a += leaf(b, i);
		b += leaf(c, a);
		c ^= leaf(d, b);
		d -= leaf(a, c);
	}
	return a + b + c + d;
}

long variable_length(long n)
{
	char bytes[n];
	long i, sum = 0;

	for (i = 0; i < n; i++)
		bytes[i] = i;
	sum = leaf(bytes[n - 1], n);
	return sum + bytes[n / 2];
}

long with_alloca(long n)
{
	long sum = 0;

	while (n > 0) {
		char *more = __builtin_alloca(16 * n);

		more[n] = n;
		sum += leaf(more[n], n);
		n -= 2;
	}
	return sum;
}

/* More alignment than the caller guarantees */
long realigned(long n)
{
	char bytes[96] __aligned(64);

	bytes[n] = n;
	sink = (uintptr_t)bytes % 64;
	return leaf(bytes[n], (long)bytes & 63);
}

/* Arguments on the stack, which the stack pointer no longer locates */
long realigned_arguments(long a, long b, long c, long d, long e, long f, long g,
			 long h)
{
	char bytes[32] __aligned(32);
	char *more = __builtin_alloca(16 * b);

	bytes[a] = c;
	more[b] = c;
	return leaf(bytes[a], d + e + f) + leaf(more[b], g) + h;
}

#ifndef NO_VECTORS
#define VECTOR	double __attribute__((vector_size(32)))

/* A vector that lives across a call */
long vectors(long n)
{
	VECTOR v = { n, n + 1, n + 2, n + 3 };
	VECTOR w = { 1, 2, 3, 4 };
	long i;

	for (i = 0; i < n; i++) {
		v = v * w + v;
		sink = leaf(i, n);
	}
	return (long)(v[0] + v[3]);
}
#else
long vectors(long n)
{
	return n;
}
#endif

struct big {
	long	word[9];
};

struct big returns_struct(long n)
{
	struct big big = { .word = { n, leaf(n, n) } };

	return big;
}

long variadic(int nr, ...)
{
	long sum = 0;
	va_list ap;

	va_start(ap, nr);
	while (nr--)
		sum = leaf(sum, va_arg(ap, long));
	va_end(ap);
	return sum;
}

long big_frame(long n)
{
	char bytes[20000];

	bytes[n] = n;
	bytes[n + 10000] = n;
	asm volatile("" : : "r"(bytes) : "memory");
	sink = bytes[n];
	return leaf(bytes[n + 10000], (long)bytes & 1);
}

/* More values than registers */
long many_registers(long n)
{
	long a = n, b = n + 1, c = n * 2, d = n ^ 5, e = n - 7, f = ~n, i;

	for (i = 0; i < 3; i++) {
		a += leaf(f, b);
		b ^= leaf(a, c);
		c -= leaf(b, d);
		d += leaf(c, e);
		e ^= leaf(d, f);
		f -= leaf(e, a);
	}
	return a + b + c + d + e + f;
}

static long tail_end(long n)
{
	return leaf(n, 9) + 1;
}

long tail_call(long n)
{
	return tail_end(n + 1);
}

long (*by_pointer)(long n) = tail_call;

long tail_call_by_pointer(long n)
{
	return by_pointer(n + leaf(n, 1));
}

[[gnu::cold]] static long rare(long n)
{
	return leaf(n, 11);
}

/* Half of it goes to .text.unlikely */
long split(long n)
{
	long sum = leaf(n, 1);

	if (n & 1)
		sum += rare(n) + leaf(sum, n) + rare(sum);
	return sum + leaf(sum, 2);
}

long switched(long n)
{
	switch (n) {
	case 0: return leaf(n, 1);
	case 1: return non_leaf(n);
	case 2: return shrink_wrapped(n);
	case 3: return tail_call(n);
	case 4: return split(n);
	case 5: return split(n + 1);
	default: return many_registers(n);
	}
}

/* Two calls of itself at each level; each makes a stack of its own */
long tree(long n)
{
	if (n < 2)
		return leaf(n, 2);
	return tree(n - 1) + tree(n - 2) + one;
}

static void *jump_buffer[5];

static long jumps_back(long n)
{
	if (n)
		return jumps_back(n - 1) + 1;
	__builtin_longjmp(jump_buffer, 1);
}

long jumped_to(long n)
{
	if (!__builtin_setjmp(jump_buffer)) {
		sink = 1;
		return jumps_back(n);
	}
	return leaf(sink, 2);
}

long all(long n)
{
	struct big big = returns_struct(n);
	long i, sum = non_leaf(n) + big.word[1];

	for (i = 0; i < 7; i++)
		sum += switched(i);
	sum += shrink_wrapped(0) + shrink_wrapped(2);
	sum += variable_length(9) + with_alloca(5) + realigned(3);
	sum += realigned_arguments(1, 2, 3, 4, 5, 6, 7, n) + vectors(2);
	sum += variadic(4, 1L, 2L, n, 3L) + big_frame(n) + many_registers(n);
	sum += tail_call(n) + tail_call_by_pointer(n) + jumped_to(3);
	sum += elsewhere(n) + tree(4);
#ifdef WITH_ASM
	sum += asm_pushes(n) + asm_frame(n) + asm_elsewhere(n) + asm_two_ends(n);
	sum += asm_without(n) + asm_without_but_fp(n);
#endif
	return sum;
}

/* Call everything, at each level again */
long deeper(long n)
{
	long sum = all(n);

	if (n)
		sum += deeper(n - 1);
	return sum + one;
}

static void exit_group(long status)
{
#if defined(__x86_64__)
	asm volatile("syscall" : : "a"(231L), "D"(status) : "rcx", "r11",
		     "memory");
#elif defined(__aarch64__)
	register long number asm("x8") = 94;
	register long first asm("x0") = status;

	asm volatile("svc #0" : "+r"(first) : "r"(number) : "memory");
#endif
}

void __noreturn leave(long status)
{
	for (;;)
		exit_group(status);
}

/* The call is the last instruction: it returns to what follows */
void __noreturn noreturn_call(long n)
{
	sink = leaf(n, 1);
	leave(0);
}

/* The form in which the compiler calls these */
void *memset(void *to, int c, size_t size)
{
	char *bytes = to;

	while (size--) {
		*bytes++ = c;
		/* Otherwise the compiler would make it a call of itself */
		asm volatile("" : : : "memory");
	}
	return to;
}

void *memcpy(void *to, const void *from, size_t size)
{
	const char *source = from;
	char *bytes = to;

	while (size--) {
		*bytes++ = *source++;
		asm volatile("" : : : "memory");
	}
	return to;
}

int run(void)
{
	sink = deeper(DEPTH);
	if (one)
		noreturn_call(one);
	return 0;
}

/* A function without a frame further out, and with an empty frame pointer */
#if defined(__x86_64__)

asm(".text\n"
	".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	endbr64\n"
	"	xorl	%ebp, %ebp\n"
	"	call	run\n"
	"	hlt\n"
	"	.cfi_endproc\n"
	".size _start, . - _start\n");

#elif defined(__aarch64__)

asm(".text\n"
	".globl _start\n"
	".type _start, %function\n"
	"_start:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined x30\n"
	"	hint	#34\n"	/* bti c */
	"	mov	x29, #0\n"
	"	bl	run\n"
	"	brk	#1\n"
	"	.cfi_endproc\n"
	".size _start, . - _start\n");

#endif
