// Package docs holds the guide and the tables that it refers to, as the service shows them to people.
package docs

import "embed"

// Pages are the files, in Markdown. What else stands in reference is for developers.
//
//go:embed guide/*.md reference/cli.md reference/config.md reference/roles.md
var Pages embed.FS
