// SPDX-License-Identifier: BSD-2-Clause
/* Names and lines of functions in C++ and Fortran, and static loops, of programs made here. */
#include "tests/unit/check.h"
#include "uprobes/symbolize/demangle.h"
#include "uprobes/symbolize/symbolize.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static void demangled(void)
{
	static const struct {
		const char *symbol, *name;
	} names[] = {
		{"main", "main"},
		{"fib._omp_fn.0.constprop.0", "fib"},
		{"main.omp_outlined_debug__", "main"},
		{".omp_outlined..1", ".omp_outlined..1"}, /* says nothing of its function */
		{"_ZN2ns4workEi", "ns::work"},
		{"_ZN2ns4workEi._omp_fn.1", "ns::work"},
		{"_ZN2ns12_GLOBAL__N_13BoxIdE3sumERKSt6vectorIdSaIdEE._omp_fn.0",
		 "ns::(anonymous namespace)::Box<double>::sum"},
		{"_Z3addIdET_S0_S0_", "add<double>"}, /* has a return type */
		{"_ZNK3BoxclEi", "Box::operator()"},  /* (int) const */
		{"_ZN3BoxlsEi", "Box::operator<<"},
		{"_ZN3BoxcvbEv", "Box::operator bool"},
		{"_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()"},
		{"_ZNSt6vectorIiSaIiEEC2Ev", "std::vector<int, std::allocator<int> >::vector"},
		{"_Znot_mangled", "_Znot_mangled"},
		{"__geometry_MOD_area", "geometry::area"},
		{"__geometry_MOD_area._omp_fn.0", "geometry::area"},
		{"MAIN__", "MAIN__"},
		{"outer_", "outer_"},
		{"", ""},
	};
	char out[256], small[5], *long_name = malloc(100000);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		demangle__function(names[i].symbol, out, sizeof(out));
		CHECK_STR(out, names[i].name, "the name of \"%s\"", names[i].symbol);
	}
	demangle__function("_ZN2ns4workEi", small, sizeof(small));
	CHECK_STR(small, "ns::", "a name is cut to its room");
	demangle__function("abcdefgh", small, sizeof(small));
	CHECK_STR(small, "abcd", "so is one that is kept");
	CHECK(long_name != NULL, "memory");
	if (!long_name)
		return;
	memset(long_name, 'A', 99999);
	memcpy(long_name, "_Z", 2);
	long_name[99999] = '\0';
	demangle__function(long_name, out, sizeof(out));
	CHECK(strlen(out) == sizeof(out) - 1 && !strncmp(out, "_ZAAA", 5),
	      "a very long name is not looked into");
	free(long_name);
	CHECK(demangle__is_outlined("fib._omp_fn.0") && demangle__is_outlined(".omp_task_entry.") &&
		      !demangle__is_outlined("fib.part.0"),
	      "outlined functions are told apart");
}

/* A program in another language, which is compiled and not run. */
struct language {
	const char *name, *suffix, *compiler, *source;
	struct {
		const char *symbol, *function;
		uint32_t line;
	} wanted[6];
};

static const struct language languages[] = {
	{"C++",
	 "cc",
	 "g++ -O1",
	 "#include <vector>\n"
	 "namespace ns { namespace {\n"
	 "template <typename T> struct Box {\n"
	 "\t__attribute__((noinline)) T sum(const std::vector<T> &x) {\n"
	 "\t\tT s = 0;\n"
	 "#pragma omp parallel for reduction(+ : s) schedule(dynamic)\n"
	 "\t\tfor (int i = 0; i < (int)x.size(); i++) s += x[i];\n"
	 "\t\treturn s;\n"
	 "\t}\n"
	 "}; }\n"
	 "__attribute__((noinline)) int work(int n) {\n"
	 "\tint r = 0;\n"
	 "#pragma omp parallel\n"
	 "#pragma omp single\n"
	 "#pragma omp task shared(r)\n"
	 "\tr += n;\n"
	 "\treturn r;\n"
	 "} }\n"
	 "int main() { ns::Box<double> b; return (int)b.sum(std::vector<double>(9)) + ns::work(3); }\n",
	 {{"_ZN2ns4workEi._omp_fn.0", "ns::work", 13},
	  {"_ZN2ns4workEi._omp_fn.1", "ns::work", 15},
	  {"_ZN2ns4workEi", "ns::work", 11},
	  {"_ZN2ns12_GLOBAL__N_13BoxIdE3sumERKSt6vectorIdSaIdEE._omp_fn.0",
	   "ns::(anonymous namespace)::Box<double>::sum", 6}}},
	{"clang's C++",
	 "cc",
	 "clang++ -O0",
	 "namespace ns {\n"
	 "int work(int n) {\n"
	 "\tauto add = [](int a) {\n"
	 "\t\treturn a + 1; };\n"
	 "\tint r = 0;\n"
	 "#pragma omp parallel\n"
	 "#pragma omp single\n"
	 "#pragma omp task shared(r)\n"
	 "\tr += add(n);\n"
	 "\treturn r;\n"
	 "} }\n"
	 "int main() { return ns::work(3); }\n",
	 {{".omp_task_entry.", "ns::work", 8},
	  {".omp_outlined._debug__", "ns::work", 6},
	  {"_ZN2ns4workEi", "ns::work", 2}}},
	{"Fortran",
	 "f90",
	 "gfortran -O1",
	 "module geometry\n"
	 "contains\n"
	 "  subroutine area(x, n)\n"
	 "    integer, intent(in) :: n\n"
	 "    real(8), intent(inout) :: x(n)\n"
	 "    integer :: i\n"
	 "!$omp parallel do schedule(dynamic)\n"
	 "    do i = 1, n\n"
	 "      x(i) = x(i) * 2\n"
	 "    end do\n"
	 "  end subroutine\n"
	 "end module\n"
	 "subroutine outer(n)\n"
	 "  integer :: n\n"
	 "!$omp parallel\n"
	 "  n = n + 1\n"
	 "!$omp end parallel\n"
	 "end subroutine\n"
	 "program shapes\n"
	 "  use geometry\n"
	 "  real(8) :: x(100)\n"
	 "  integer :: n\n"
	 "!$omp parallel\n"
	 "  x(1) = 1\n"
	 "!$omp end parallel\n"
	 "  call area(x, 100)\n"
	 "  call outer(n)\n"
	 "end program\n",
	 {{"__geometry_MOD_area._omp_fn.0", "geometry::area", 7},
	  {"__geometry_MOD_area", "geometry::area", 3},
	  {"outer_._omp_fn.0", "outer", 15},
	  {"outer_", "outer", 13},
	  {"MAIN__._omp_fn.0", "shapes", 23}}},
};

/* The address of the symbol in the file, 0 if it has none. */
static uint64_t symbol_address(const char *path, const char *symbol)
{
	char command[512], line[1024], name[1024];
	unsigned long long address, found = 0;
	FILE *nm;

	snprintf(command, sizeof(command), "nm %s", path);
	nm = popen(command, "r");
	while (nm && fgets(line, sizeof(line), nm))
		if (sscanf(line, "%llx %*c %1023s", &address, name) == 2 && !strcmp(name, symbol))
			found = address;
	if (nm)
		pclose(nm);
	return found;
}

static void other_language(const struct language *language, const char *directory)
{
	char path[256], source[300], command[700], *base;
	FILE *file;

	snprintf(path, sizeof(path), "%s/program", directory);
	snprintf(source, sizeof(source), "%s.%s", path, language->suffix);
	file = fopen(source, "w");
	if (!file || fputs(language->source, file) < 0 || fclose(file)) {
		CHECK(0, "writing %s", source);
		return;
	}
	snprintf(command, sizeof(command), "cd %s && %s -g -fopenmp -fPIE -pie -o %s %s", directory,
		 language->compiler, path, source);
	CHECK(system(command) == 0, "%s", command);
	for (size_t i = 0; language->wanted[i].symbol; i++) {
		uint64_t address = symbol_address(path, language->wanted[i].symbol);
		struct symbolizer *symbolizer = NULL;
		struct symbol symbol = {0};

		/* the linkers put code where it is in the file */
		if (!address || symbolizer__new(&symbolizer) ||
		    symbolizer__add_mapping(symbolizer, 1u << 30, 2u << 30, 0, path, -1)) {
			CHECK(0, "%s: %s is in the file", language->name, language->wanted[i].symbol);
		} else {
			symbolizer__lookup(symbolizer, (1u << 30) + address, 0, &symbol);
			CHECK_STR(symbol.function, language->wanted[i].function, "%s: the function of %s",
				  language->name, language->wanted[i].symbol);
			/* the directive's line, or that of the statement behind it */
			CHECK(symbol.line == language->wanted[i].line ||
				      symbol.line == language->wanted[i].line + 1,
			      "%s: line %u, %u expected", language->wanted[i].symbol, symbol.line,
			      language->wanted[i].line);
			base = strrchr(symbol.file, '/');
			CHECK(base && !strcmp(base + 1, strrchr(source, '/') + 1), "%s: file %s",
			      language->wanted[i].symbol, symbol.file);
		}
		symbolizer__free(symbolizer);
	}
	unlink(source);
}

/* The compiler's loop, and one that a programmer wrote with the same two calls on two lines. */
static const char loops_source[] =
	"#include <omp.h>\n"
	"int a[1000];\n"
	"void made(int n) {\n"
	"#pragma omp parallel for schedule(static)\n"
	"\tfor (int i = 0; i < n; i++) a[i]++;\n"
	"}\n"
	"void written(int n) {\n"
	"#pragma omp parallel\n"
	"\t{\n"
	"\t\tint threads = omp_get_num_threads();\n"
	"\t\tint thread = omp_get_thread_num();\n"
	"\t\tfor (int i = thread; i < n; i += threads) a[i]++;\n"
	"\t}\n"
	"}\n"
	"int main(int argc, char **argv) { made(argc); written(argc); (void)argv; }\n";

static void static_loops(const char *directory)
{
	char path[256], command[1024], line[512];
	unsigned long long address;
	bool calls_it = false;
	int made = 0, written = 0, inside = 0;
	struct symbolizer *symbolizer = NULL;
	FILE *file;

	snprintf(path, sizeof(path), "%s/loops.c", directory);
	file = fopen(path, "w");
	if (!file || fputs(loops_source, file) < 0 || fclose(file)) {
		CHECK(0, "writing %s", path);
		return;
	}
	snprintf(command, sizeof(command), "gcc -O2 -g -fopenmp -fPIE -pie -o %s/loops %s", directory, path);
	CHECK(system(command) == 0, "%s", command);
	snprintf(path, sizeof(path), "%s/loops", directory);
	CHECK(symbolizer__new(&symbolizer) == 0 &&
		      symbolizer__add_mapping(symbolizer, 1u << 30, 2u << 30, 0, path, -1) == 0,
	      "a symbolizer for the loops");
	snprintf(command, sizeof(command), "objdump -d --no-show-raw-insn %s", path);
	file = popen(command, "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (strchr(line, '<') && strstr(line, ">:"))
			inside = strstr(line, "<made._omp_fn") ? 1 : strstr(line, "<written._omp_fn") ? 2 : 0;
		if (calls_it && inside && sscanf(line, " %llx:", &address) == 1) {
			bool found = symbolizer__is_static_loop(symbolizer, (1u << 30) + address);

			if (inside == 1)
				made += found ? 1 : 100;
			else
				written += found ? 100 : 1;
		}
		calls_it = strstr(line, "call") && strstr(line, "<omp_get_num_threads");
	}
	if (file)
		pclose(file);
	CHECK(made == 1, "the compiler's static loop is told by its code");
	CHECK(written == 1, "one that was written by hand on two lines is not taken for it");
	CHECK(!symbolizer__is_static_loop(symbolizer, 16) &&
		      !symbolizer__is_static_loop(symbolizer, (2u << 30) - 1),
	      "nor is an address without code");
	symbolizer__free(symbolizer);
}

/* GCC gives the call that begins a loop over iterators a line in the library's header. */
static const char headers_source[] = "#include <vector>\n"
				     "using longs = std::vector<long>;\n"
				     "static inline __attribute__((always_inline)) void inner(longs &v) {\n"
				     "#pragma omp for schedule(dynamic, 4)\n"
				     "\tfor (auto n = v.begin(); n < v.end(); ++n)\n"
				     "\t\t*n += 1;\n"
				     "}\n"
				     "__attribute__((noinline)) void outer(longs &v) { inner(v); }\n"
				     "__attribute__((noinline)) void plain(longs &v) {\n"
				     "#pragma omp for schedule(dynamic, 4)\n"
				     "\tfor (auto n = v.begin(); n < v.end(); ++n)\n"
				     "\t\t*n += 1;\n"
				     "}\n"
				     "int main() { longs v(9); outer(v); plain(v); }\n";

/* Calls inlined from system headers are where they were inlined to, in inlined functions of the user too. */
/* clang gives no line to the call that makes a task of a target region: it gets that of the directive. */
static void no_line(const char *directory)
{
	static const char text[] = "int work(int n) {\n"
				   "#pragma omp target nowait map(tofrom : n)\n"
				   "\tn++;\n"
				   "#pragma omp taskwait\n"
				   "\treturn n;\n"
				   "}\n"
				   "int main(int argc, char **argv) { (void)argv; return work(argc); }\n";
	char path[256], command[900], line[256];
	struct symbolizer *symbolizer = NULL;
	unsigned long address = 0;
	struct symbol symbol = {0};
	FILE *file;

	snprintf(path, sizeof(path), "%s/no_line", directory);
	snprintf(command, sizeof(command), "%s.c", path);
	file = fopen(command, "w");
	if (!file || fputs(text, file) < 0 || fclose(file)) {
		CHECK(0, "writing %s", command);
		return;
	}
	snprintf(command, sizeof(command), "clang -O1 -g -fopenmp -fPIE -pie -o %s %s.c", path, path);
	CHECK(system(command) == 0, "%s", command);
	/* where the call returns to */
	snprintf(command, sizeof(command),
		 "objdump -d %s | grep -A1 'call.*<__kmpc_omp_task@plt>' | sed -n 's/^ "
		 "*\\([0-9a-f]*\\):.*/\\1/p' | "
		 "sed -n 2p",
		 path);
	file = popen(command, "r");
	if (file && fgets(line, sizeof(line), file))
		address = strtoul(line, NULL, 16);
	if (file)
		pclose(file);
	if (!address || symbolizer__new(&symbolizer) ||
	    symbolizer__add_mapping(symbolizer, 1u << 30, 2u << 30, 0, path, -1))
		CHECK(0, "the call is in the file");
	else
		symbolizer__lookup(symbolizer, (1u << 30) + address - 1, 0, &symbol);
	CHECK(symbol.line == 2, "the call of a target task has line %u", symbol.line);
	symbolizer__free(symbolizer);
}

static void system_headers(const char *directory)
{
	char path[256], command[1024], line[512];
	struct symbolizer *symbolizer = NULL;
	unsigned found[2] = {0};
	unsigned long long address;
	int inside = -1, called = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/headers.cc", directory);
	file = fopen(path, "w");
	if (!file || fputs(headers_source, file) < 0 || fclose(file)) {
		CHECK(0, "writing %s", path);
		return;
	}
	snprintf(command, sizeof(command), "g++ -O2 -g -fopenmp -fPIE -pie -o %s/headers %s", directory,
		 path);
	CHECK(system(command) == 0, "%s", command);
	snprintf(path, sizeof(path), "%s/headers", directory);
	CHECK(symbolizer__new(&symbolizer) == 0 &&
		      symbolizer__add_mapping(symbolizer, 1u << 30, 2u << 30, 0, path, -1) == 0,
	      "a symbolizer for the loops over iterators");
	snprintf(command, sizeof(command), "objdump -d --no-show-raw-insn %s", path);
	file = popen(command, "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (strchr(line, '<') && strstr(line, ">:"))
			inside = strstr(line, "<_Z5outer") ? 0 : strstr(line, "<_Z5plain") ? 1 : -1;
		if (called && inside >= 0 && sscanf(line, " %llx:", &address) == 1) {
			struct symbol symbol = {0};
			uint32_t from = inside ? 10 : 4;

			CHECK(symbolizer__lookup(symbolizer, (1u << 30) + address, 1, &symbol) == 0 &&
				      strstr(symbol.file, "/headers.cc") && symbol.line >= from &&
				      symbol.line <= from + 2,
			      "a loop over iterators has its own line: %s:%" PRIu32, symbol.file,
			      symbol.line);
			CHECK_STR(symbol.function, inside ? "plain" : "inner", "and function");
			found[inside]++;
		}
		called = strstr(line, "call") && strstr(line, "<GOMP_loop_");
		called = called && strstr(line, "_dynamic_start");
	}
	if (file)
		pclose(file);
	CHECK(found[0] == 1 && found[1] == 1, "both loops' calls are found: %u, %u", found[0], found[1]);
	symbolizer__free(symbolizer);
}

int main(void)
{
	char directory[] = "/tmp/graind-names.XXXXXX", command[128];

	if (!mkdtemp(directory))
		return 1;
	demangled();
	for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++)
		other_language(&languages[i], directory);
	static_loops(directory);
	system_headers(directory);
	no_line(directory);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	if (system(command) != 0)
		return 1;
	CHECK_DONE();
}
