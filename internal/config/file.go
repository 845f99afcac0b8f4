package config

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"

	"quarry/internal/text/fuzzy"
)

// ReadFile overlays the settings of a YAML file. It refuses a setting that does not exist or stands there twice, and a
// value of another kind, naming the line.
func (c *Config) ReadFile(name string) error {
	raw, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	var page yaml.Node
	if err := yaml.Unmarshal(raw, &page); err != nil {
		return fmt.Errorf("%s is not YAML: %s", name, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if page.IsZero() { // empty, or comments alone
		return nil
	}
	return c.readPage(name, page.Content[0])
}

// readPage overlays the settings of the content of a file.
func (c *Config) readPage(name string, all *yaml.Node) error {
	if all.Kind == yaml.ScalarNode && all.Tag == "!!null" {
		return nil
	}
	if all.Kind != yaml.MappingNode {
		return fmt.Errorf("%s line %d: write one setting a line, such as listen: 127.0.0.1:8080", name, all.Line)
	}
	lines := map[string]int{}
	for i := 0; i < len(all.Content); i += 2 {
		key, value := all.Content[i], all.Content[i+1]
		if first, ok := lines[key.Value]; ok {
			return fmt.Errorf("%s line %d: the setting %s stands in line %d already", name, key.Line, key.Value, first)
		}
		lines[key.Value] = key.Line
		s := settingOf(key.Value)
		if s == nil {
			return fmt.Errorf("%s line %d: there is no setting %s%s", name, key.Line, key.Value, suggest(key.Value))
		}
		if err := s.decode(c, value); err != nil {
			return fmt.Errorf("%s line %d: setting %s %w", name, value.Line, s.Key, err)
		}
	}
	return nil
}

// settingOf returns the setting of that name, nil for none.
func settingOf(key string) *Setting {
	for i := range Settings {
		if Settings[i].Key == key {
			return &Settings[i]
		}
	}
	return nil
}

// decode sets the value of a file. Its errors repeat no text, which may be a secret.
func (s Setting) decode(c *Config, value *yaml.Node) error {
	if value.Kind == yaml.SequenceNode || value.Kind == yaml.MappingNode {
		return errors.New("takes one value; where it can hold several, part them by commas")
	}
	if value.Decode(s.at(c)) == nil {
		return nil
	}
	switch s.at(c).(type) {
	case *int64:
		return fmt.Errorf("is %q: it must be a whole number", value.Value)
	case *bool:
		return fmt.Errorf("is %q: it must be true or false", value.Value)
	}
	return errors.New("must be a text")
}

// suggest returns a question for the setting that a mistyped name is close to, or where all of them stand.
func suggest(name string) string {
	keys := make([]string, len(Settings))
	for i, s := range Settings {
		keys[i] = s.Key
	}
	if near := fuzzy.Nearest(name, keys); near != "" {
		return "; did you mean " + near + "?"
	}
	return "; docs/reference/config.md lists them"
}
