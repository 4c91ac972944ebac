/* SPDX-License-Identifier: GPL-2.0 */
/* brk #5: a uprobe */
#define BRK64_OPCODE_UPROBES	0xd42000a0
