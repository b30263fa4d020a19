/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the aarch64 files. */
#ifndef GRAIND_CODE_AARCH64_H
#define GRAIND_CODE_AARCH64_H

#include "uprobes/code/code_arch.h"

#define AARCH64_LINK 30

/* Values of an instruction's `id`. */
enum aarch64_sequence { SEQUENCE_NONE, SEQUENCE_LOAD, SEQUENCE_STORE };

/*
 * Decodes everything of one instruction that does not depend on other instructions; address, size and
 * FLOW_NEXT are set already.
 */
void aarch64__decode(uint32_t word, struct code_insn *out);

#endif
