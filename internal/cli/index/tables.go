package index

import (
	"crypto/sha256"
	"fmt"

	"quarry/internal/cli/command"
)

// tableFlags are the flags about the tables of files.
type tableFlags struct {
	Tables         bool   `help:"Find tables in PDF files, too, whose format does not declare them."`
	DescribeTables bool   `help:"Have a language model describe each table, of any format, so that it is found by what it shows; finds those in PDF files, too. Each table is one call."`
	TablesLLM      string `help:"Describe tables with this language model in place of the service's default." name:"tables-llm" placeholder:"NAME"`
	TablesTemplate string `help:"Describe tables by this prompt template, or @FILE to read it from a file." placeholder:"TEXT|@FILE"`
}

// extraction is table_extraction_config of an upload.
type extraction struct {
	Extract    bool        `json:"extract_tables"` // without it the service describes nothing, either
	Generation *generation `json:"generation,omitempty"`
}

// generation is how tables are described; what is empty is for the service to choose.
type generation struct {
	LLM      string `json:"llm_name,omitempty"`
	Template string `json:"prompt_template,omitempty"`
}

// extraction returns what the flags ask for, nil for nothing.
func (f *tableFlags) extraction() (*extraction, error) {
	describe := f.DescribeTables || f.TablesLLM != "" || f.TablesTemplate != ""
	switch {
	case describe:
		template, err := command.Text("the template", f.TablesTemplate)
		if err != nil {
			return nil, err
		}
		return &extraction{true, &generation{f.TablesLLM, template}}, nil
	case f.Tables:
		return &extraction{Extract: true}, nil
	}
	return nil, nil
}

// settings returns what of x documents depend on. It is empty without tables, and short whatever the template is: it is remembered of every file.
func (x *extraction) settings() string {
	switch {
	case x == nil:
		return ""
	case x.Generation == nil:
		return " tables"
	}
	sum := sha256.Sum256([]byte(x.Generation.LLM + "\x00" + x.Generation.Template))
	return fmt.Sprintf(" tables described=%x", sum[:8])
}
