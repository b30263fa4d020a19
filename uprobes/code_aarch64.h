/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files about aarch64. */
#ifndef GRAIND_CODE_AARCH64_H
#define GRAIND_CODE_AARCH64_H

#include "uprobes/code_arch.h"

#define AARCH64_LINK 30

/* What an instruction's `id` says. */
enum aarch64_sequence { SEQUENCE_NONE, SEQUENCE_LOAD, SEQUENCE_STORE };

/* Everything of one instruction but what depends on others; address, size and FLOW_NEXT are set. */
void aarch64__decode(uint32_t word, struct code_insn *out);

#endif
