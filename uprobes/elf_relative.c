// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/code_arch.h"

#include <gelf.h>
#include <libelf.h>

bool elf_image__relative(const struct elf_image *image, uint64_t address, uint64_t *out)
{
	Elf *elf = elf_image__elf(image);
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;
		size_t count;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || !header.sh_entsize)
			continue;
		data = elf_getdata(section, NULL);
		count = data ? data->d_size / sizeof(Elf64_Rela) : 0;
		for (size_t i = 0; i < count && i < INT32_MAX; i++) {
			GElf_Rela rela;

			if (!gelf_getrela(data, (int)i, &rela))
				break;
			if (rela.r_offset != address ||
			    GELF_R_TYPE(rela.r_info) != elf_image__arch(image)->relative)
				continue;
			*out = (uint64_t)rela.r_addend;
			return true;
		}
	}
	return false;
}
