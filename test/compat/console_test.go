package compat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/testkit"
	"quarry/test/guide"
)

// TestConsole proves that the programs that the search lab of the console writes for a query run as they are, with the key in the
// environment: curl, Vectara's libraries for Python and TypeScript, and the command line. The files of testdata/console are
// what the lab writes; a test of web/ compares them.
func TestConsole(t *testing.T) {
	t.Parallel()
	guide.Needs(t, "python3", "npm", "node", "curl", "bash")
	dir := t.TempDir()
	python := packages("libraries/python.txt")(t, dir)
	modules("libraries")(t, dir)
	run(t, dir, []string{"NPM_CONFIG_LOGLEVEL=error"}, "npm", "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "typescript@5.9.3", "@types/node@20.19.0")
	if err := os.Symlink(testkit.Binary(t), filepath.Join(dir, "quarry")); err != nil {
		t.Fatal(err)
	}
	service := testkit.StartBinary(t, t.TempDir())
	client := service.Client()
	client.Must(t, 201, "POST", "/v2/corpora", map[string]any{
		"key":               "docs",
		"filter_attributes": []any{map[string]any{"name": "line", "level": "document", "type": "text", "indexed": true}},
		"custom_dimensions": []any{map[string]any{"name": "popularity", "indexing_default": 0, "querying_default": 0}},
	})
	client.Must(t, 201, "POST", "/v2/corpora", map[string]any{"key": "more"})
	client.Must(t, 201, "POST", "/v2/corpora/docs/documents", map[string]any{
		"id": "runs", "type": "core", "metadata": map[string]any{"line": "it's"}, "document_parts": []any{map[string]any{"text": "The pump runs for hours."}},
	})
	env := []string{"QUARRY_API_KEY=" + service.Key, "PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + dir}
	for _, name := range []string{"plain", "rich"} {
		for ending, interpreter := range map[string]string{".sh": "bash", "-quarry.sh": "bash", ".py": python, ".ts": "node"} {
			raw, err := os.ReadFile(inTestdata(t, "console/"+name+ending))
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, name+ending)
			if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(raw), "http://127.0.0.1:8080", service.URL)), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Run(name+ending, func(t *testing.T) {
				t.Parallel()
				if ending == ".ts" {
					run(t, dir, nil, filepath.Join(dir, "node_modules", ".bin", "tsc"), "--strict", "--module", "commonjs", "--target", "es2022", file)
					file = strings.TrimSuffix(file, "ts") + "js"
				}
				if got := run(t, dir, env, interpreter, file); !strings.Contains(got, "The pump runs for hours.") {
					t.Errorf("it prints\n%s", got)
				}
			})
		}
	}
}
