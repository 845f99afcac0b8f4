package source

import "fmt"

// CorpusKey returns the corpus key that stands for the name of a folder or file. It fails for a name without anything readable.
func CorpusKey(name string) (string, error) {
	if name == "" {
		return "", fmt.Errorf("%q makes no corpus key; name one with --corpus", name)
	}
	return name, nil
}
