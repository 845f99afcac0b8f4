package extract

import (
	"path"
	"slices"
	"strings"
)

// Textual is a kind of files that are plain text although their names do not say so. They are read as they are, without
// headings.
type Textual struct {
	// Name is what people call the kind, in messages and in the documentation.
	Name string
	// Endings are those of its files, in lower case with their dots; Names are whole names of files, in lower case.
	Endings, Names []string
}

// textual is the table of these kinds. It has no ending of formats.
var textual = []Textual{
	{Name: "markup", Endings: []string{".rst", ".adoc", ".asciidoc", ".org", ".tex", ".textile", ".mdx", ".qmd", ".rmd", ".srt", ".vtt"}},
	{Name: "settings", Endings: []string{".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".properties"}},
	{Name: "logs", Endings: []string{".log"}},
	{Name: "source code", Endings: []string{
		".bash", ".bat", ".c", ".cc", ".clj", ".cmake", ".cpp", ".cs", ".css", ".cxx", ".dart", ".erl", ".ex", ".exs", ".f90",
		".fs", ".go", ".gradle", ".graphql", ".groovy", ".h", ".hpp", ".hs", ".hxx", ".java", ".jl", ".js", ".jsx", ".kt", ".kts",
		".less", ".lisp", ".lua", ".m", ".mjs", ".ml", ".mm", ".nim", ".pas", ".php", ".pl", ".pm", ".proto", ".ps1", ".py", ".pyi",
		".r", ".rb", ".rs", ".s", ".sass", ".scala", ".scm", ".scss", ".sh", ".sol", ".sql", ".svelte", ".swift", ".tcl", ".tf",
		".ts", ".tsx", ".vb", ".vim", ".vue", ".zig", ".zsh",
	}},
	{Name: "files such as README and Makefile", Names: []string{
		"authors", "changelog", "changes", "codeowners", "contributing", "contributors", "copying", "dockerfile", "gemfile", "history",
		"install", "jenkinsfile", "justfile", "license", "licence", "maintainers", "makefile", "news", "notice", "procfile", "rakefile",
		"readme", "todo", "vagrantfile", "version",
	}},
}

// Textuals returns the kinds of files that are read as plain text beside the formats.
func Textuals() []Textual { return slices.Clone(textual) }

// ReadsName reports whether a file of this name is looked for in folders: it has an ending of a format or is textual.
func ReadsName(name string) bool {
	return slices.Contains(Endings(), strings.ToLower(path.Ext(name))) || isTextual(name)
}

func isTextual(name string) bool {
	name = strings.ToLower(path.Base(name))
	ext := path.Ext(name)
	return slices.ContainsFunc(textual, func(t Textual) bool {
		return ext != "" && slices.Contains(t.Endings, ext) || slices.Contains(t.Names, name)
	})
}
