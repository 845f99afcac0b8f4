package filter

import (
	"fmt"

	"quarry/internal/expr"
	"quarry/internal/fault"
)

// prefix begins every message about a filter. Clients test for it, so it must not change.
const prefix = "INVALID_ARGUMENT: The filter expression contains an error. "

// refuse returns the fault of a filter that does not compile, of the field metadata_filter.
func refuse(format string, args ...any) *fault.Fault {
	detail := fmt.Sprintf(format, args...)
	f := fault.InvalidField("metadata_filter", "%s", detail)
	f.Text = prefix + detail
	return f
}

func (p *parser) syntax(at int, format string, args ...any) *fault.Fault {
	return p.wrong("Syntax", at, format, args...)
}

func (p *parser) typeError(at int, format string, args ...any) *fault.Fault {
	return p.wrong("Type", at, format, args...)
}

// wrong names a place in the filter: its line from 1, its column from 0 in code points.
func (p *parser) wrong(kind string, at int, format string, args ...any) *fault.Fault {
	line, col := expr.Position(p.text, at)
	return refuse("%s error at %d:%d %s", kind, line, col, fmt.Sprintf(format, args...))
}
