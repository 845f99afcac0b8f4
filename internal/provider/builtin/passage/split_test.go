package passage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/llm"
	"quarry/internal/provider/builtin/passage"
)

func TestPiecesOfReferences(t *testing.T) {
	// Proves that a row of a table and a line with a value stay whole, and that what an item of a list says belongs to its option.
	t.Parallel()
	for _, c := range []struct {
		name     string
		evidence llm.Evidence
		want     []string
	}{
		{"sentences in the cells of a row", llm.Evidence{
			Text: "Command: -c; Description: Time in seconds, for example -c10. To disable caching, use -c-1.; Defaults: 3600", Headings: []string{"Options"},
		}, []string{"item: Command: -c; Description: Time in seconds, for example -c10. To disable caching, use -c-1.; Defaults: 3600 {Options}"}},
		{"rows that are joined as context", llm.Evidence{
			Text: "Flag: -p; Meaning: Port to use. It is read from PORT.; Default: 8080 Flag: -a; Meaning: Address to use; Default: 0.0.0.0",
		}, []string{"item: Flag: -p; Meaning: Port to use. It is read from PORT.; Default: 8080", "item: Flag: -a; Meaning: Address to use; Default: 0.0.0.0"}},
		{"lines of names with values", llm.Evidence{
			Text: "The longest line that is left alone.\n\nType: Int\nDefault: 79\nName in files: line_length\nFlags:", Headings: []string{"Line Length"},
		}, []string{
			"prose: The longest line that is left alone. {Line Length}", "item: Type: Int {Line Length}", "item: Default: 79 {Line Length}",
			"item: Name in files: line_length {Line Length}", "label: Flags: {Line Length}",
		}},
		{"an option with its type", llm.Evidence{
			Text: "- headersTimeout number | null (optional) - Default: 300e3 - How long the parser waits for headers. Defaults to 300 seconds.", Headings: []string{"Client"},
		}, []string{
			"item: headersTimeout number | null (optional) - Default: 300e3 - How long the parser waits for headers. {Client}",
			"prose: Defaults to 300 seconds. {headersTimeout}",
		}},
		{"an option with its default in brackets", llm.Evidence{Text: "- passes (default: 1) -- The number of runs. More of them take more time."}, []string{
			"item: passes (default: 1) -- The number of runs.", "prose: More of them take more time. {passes}",
		}},
		{"an option known by its spelling", llm.Evidence{Text: "- queueLimit is how many messages wait. Default: 42\n- maxLength is that of an id. Default: 23"}, []string{
			"item: queueLimit is how many messages wait.", "item: Default: 42 {queueLimit}", "item: maxLength is that of an id.", "item: Default: 23 {maxLength}",
		}},
		{"items that are sentences", llm.Evidence{Text: "- Links are followed on request. Those of folders are left out always.\n- Writes are atomic, with a file beside it"}, []string{
			"item: Links are followed on request.", "prose: Those of folders are left out always.", "item: Writes are atomic, with a file beside it",
		}},
		{"a term of a manual page is the heading", llm.Evidence{Text: "Default state file.", Title: "LOGROTATE(8)", Headings: []string{"FILES", "/var/lib/logrotate/status"}}, []string{
			"prose: Default state file. {/var/lib/logrotate/status}",
		}},
		{"an explanation without a full stop", llm.Evidence{Text: "suppress repeated empty output lines", Headings: []string{"OPTIONS", "-s, --squeeze-blank"}}, []string{
			"item: suppress repeated empty output lines {-s, --squeeze-blank}",
		}},
		{"what a manual page is about", llm.Evidence{Text: "crontab - tables for driving cron", Headings: []string{"NAME"}}, []string{"item: crontab - tables for driving cron {NAME}"}},
		{"who wrote it", llm.Evidence{Text: "Ann Miller <ann@example.org>", Headings: []string{"AUTHOR"}}, []string{"item: Ann Miller <ann@example.org> {AUTHOR}"}},
		{"bare links and names of pages", llm.Evidence{Text: "<https://example.org/pump>\n\ncron(8), crontab(1)\n\nSee sharedscripts and nosharedscripts for error handling.", Headings: []string{"SEE ALSO"}}, []string{
			"navigation: <https://example.org/pump> {SEE ALSO}", "navigation: cron(8), crontab(1) {SEE ALSO}", "boilerplate: See sharedscripts and nosharedscripts for error handling. {SEE ALSO}",
		}},
		{"columns whose names end alike", llm.Evidence{Text: "Version: 6.x; Branch: main; Node.js Version: >= 20; Redis Version: 6.2"}, []string{
			"item: Version: 6.x; Branch: main; Node.js Version: >= 20; Redis Version: 6.2",
		}},
		{"names in brackets are no row", llm.Evidence{Text: "The forest (Dutch: het woud; French: la forêt; Spanish: la selva) is wide. It is old."}, []string{
			"prose: The forest (Dutch: het woud; French: la forêt; Spanish: la selva) is wide.", "prose: It is old. <- The forest (Dutch: het woud; French: la forêt; Spanish: la selva) is wide.",
		}},
		{"a row of names in capitals", llm.Evidence{Text: "Component: HTTP Workers; Parent: Main Arbiter; Communication: Pipes, Signals; Unix:"}, []string{
			"item: Component: HTTP Workers; Parent: Main Arbiter; Communication: Pipes, Signals; Unix:",
		}},
		{"what a colon introduces", llm.Evidence{Text: "allow 192.168.1.0/24", Before: "Add a line like this to the file:", Headings: []string{"How do I allow clients?"}}, []string{
			"code: allow 192.168.1.0/24 {Add a line like this to the file}",
		}},
		{"settings with a block", llm.Evidence{Text: "/var/log/messages {\n    rotate 5\n    weekly\n    postrotate\n        /usr/bin/killall -HUP syslogd\n    endscript\n}", Headings: []string{"CONFIGURATION FILE"}}, []string{
			"code: /var/log/messages {\n    rotate 5\n    weekly\n    postrotate\n        /usr/bin/killall -HUP syslogd\n    endscript\n} {CONFIGURATION FILE}",
		}},
		{"items of one list", llm.Evidence{Text: "- Sorted sets of 8 names", Before: "- Hashes", Headings: []string{"Examples"}}, []string{"item: Sorted sets of 8 names {Examples}"}},
		{"the value in the second sentence of an item, in a part of its own", llm.Evidence{Text: "Default: 5", Before: "- maxRetries number (optional) - Maximum number of retries.", Headings: []string{"RetryOptions"}}, []string{
			"item: Default: 5 {maxRetries}",
		}},
		{"a paragraph behind a list", llm.Evidence{Text: "The pump is red and new.", Before: "- maxRetries number (optional) - Maximum number of retries.", Headings: []string{"Pumps"}}, []string{
			"prose: The pump is red and new. {Pumps}",
		}},
		{"numbers of items", llm.Evidence{Text: "1. A file in the folder (the default).\n2) The recipient of all mails.\n\n© Copyright 2010-2014, the makers."}, []string{
			"item: A file in the folder (the default).", "item: The recipient of all mails.", "boilerplate: © Copyright 2010-2014, the makers.",
		}},
		{"a program with comments", llm.Evidence{Text: "// By default, it connects to localhost.\nconst a = open();\n\n// The callback is called at the end.\na.get((err) => {\n  log(err);\n});"}, []string{
			"code: // By default, it connects to localhost.\nconst a = open();\n\n// The callback is called at the end.\na.get((err) => {\n  log(err);\n});",
		}},
		{"members of an object", llm.Evidence{Text: "\"delay\": 2500,", Before: "For example:"}, []string{"code: \"delay\": 2500, {For example}"}},
		{"the value of what was named before", llm.Evidence{Text: "The maxdelay option limits it. The default value is 3 seconds.", Headings: []string{"Security"}}, []string{
			"prose: The maxdelay option limits it. {Security}", "prose: The default value is 3 seconds. {Security} <- The maxdelay option limits it.",
		}},
		{"the same below its name", llm.Evidence{Text: "It limits the delay. The default value is 3 seconds.", Headings: []string{"maxdelay"}}, []string{
			"prose: It limits the delay. {maxdelay}", "prose: The default value is 3 seconds. {maxdelay}",
		}},
		{"a sentence that begins with a name in lower case", llm.Evidence{Text: "They match (see the note below). cron(8) examines entries once every minute."}, []string{
			"prose: They match (see the note below).", "prose: cron(8) examines entries once every minute.",
		}},
	} {
		if diff := cmp.Diff(c.want, lines(passage.Cut([]llm.Evidence{c.evidence}, "eng"))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
