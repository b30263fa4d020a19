// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/elf/elf_notes.h"

#include <gelf.h>
#include <stdio.h>
#include <string.h>

#define BUILD_ID_BYTES ((ELF_BUILD_ID - 1) / 2)
#define PROPERTY_ALIGN 8 /* in 64-bit files */

void elf_notes__build_id(Elf_Scn *section, char out[ELF_BUILD_ID], uint64_t *at)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t offset = 0, name_at, desc_at;
	GElf_Shdr header;
	GElf_Nhdr note;

	while (data && (offset = gelf_getnote(data, offset, &note, &name_at, &desc_at)) > 0) {
		const uint8_t *desc = (const uint8_t *)data->d_buf + desc_at;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_descsz > BUILD_ID_BYTES)
			continue;
		for (size_t i = 0; i < note.n_descsz; i++)
			snprintf(out + 2 * i, 3, "%02x", desc[i]);
		if (gelf_getshdr(section, &header))
			*at = header.sh_offset + desc_at;
		return;
	}
}

/* The properties stand one after another: type, size, and that many bytes, padded to eight. */
static bool has_mark(const uint8_t *properties, size_t size)
{
	uint32_t type, length, bits;
	size_t whole;

	for (; size >= sizeof(type) + sizeof(length); properties += whole, size -= whole) {
		memcpy(&type, properties, sizeof(type));
		memcpy(&length, properties + sizeof(type), sizeof(length));
		properties += sizeof(type) + sizeof(length);
		size -= sizeof(type) + sizeof(length);
		if (length > size)
			return false;
		if (type == GNU_PROPERTY_X86_FEATURE_1_AND && length == sizeof(bits)) {
			memcpy(&bits, properties, sizeof(bits));
			return bits & GNU_PROPERTY_X86_FEATURE_1_SHSTK;
		}
		whole = (length + (size_t)PROPERTY_ALIGN - 1) / PROPERTY_ALIGN * PROPERTY_ALIGN;
		whole = whole < size ? whole : size;
	}
	return false;
}

static bool segment_has_mark(Elf *elf, const GElf_Phdr *segment)
{
	Elf_Data *data =
		elf_getdata_rawchunk(elf, (int64_t)segment->p_offset, segment->p_filesz, ELF_T_NHDR8);
	size_t offset = 0, name_at, desc_at;
	GElf_Nhdr note;

	while (data && (offset = gelf_getnote(data, offset, &note, &name_at, &desc_at)) > 0) {
		const char *bytes = data->d_buf;

		if (note.n_type == NT_GNU_PROPERTY_TYPE_0 && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(bytes + name_at, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) &&
		    has_mark((const uint8_t *)bytes + desc_at, note.n_descsz))
			return true;
	}
	return false;
}

bool elf_notes__keep_shadow_stack(Elf *elf)
{
	GElf_Ehdr header;
	GElf_Phdr segment;
	size_t count;

	if (!gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64 || elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &segment); i++) {
		/* Without a PT_GNU_PROPERTY, loaders look into notes with this alignment. */
		bool properties = segment.p_type == PT_GNU_PROPERTY ||
				  (segment.p_type == PT_NOTE && segment.p_align == PROPERTY_ALIGN);

		if (properties && segment_has_mark(elf, &segment))
			return true;
	}
	return false;
}
