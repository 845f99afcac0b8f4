package cli

import (
	"encoding/json"
	"fmt"
	"os"

	"quarry/internal/app"
	"quarry/internal/cli/command"
	"quarry/internal/config"
	"quarry/internal/query/evaluate"
)

type evalCmd struct {
	Dir  string `arg:"" help:"Folder in the BEIR layout: corpus.jsonl[.gz], queries.jsonl[.gz], qrels/test.tsv." type:"existingdir"`
	JSON bool   `help:"Print JSON." name:"json"`
}

func (evalCmd) Help() string {
	return "Needs no running server: indexes the collection in a temporary folder and ranks through the same code as the\nHTTP query.\n\nExample: quarry eval ./scifact --json"
}

func (c *evalCmd) Run(e *command.Env) error {
	data, err := evaluate.Read(c.Dir)
	if err != nil {
		return command.Failed(command.ExitUsage, "%v", err)
	}
	cfg := config.Default()
	if err := cfg.ReadEnv(os.LookupEnv); err != nil {
		return command.Failed(command.ExitUsage, "%v", err)
	}
	var bar *command.Progress
	report, err := app.Evaluate(e.Ctx, cfg, data, func(stage string, n int) func() {
		if bar != nil {
			bar.Done()
		}
		bar = command.NewProgress(e.Err, n, stage)
		return func() { bar.Step("") }
	})
	if bar != nil {
		bar.Done()
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(e.Out).Encode(report)
	}
	rows := make([][]string, len(report.Runs))
	for i, r := range report.Runs {
		rows[i] = []string{
			r.Run, fmt.Sprintf("%.4f", r.NDCG10), fmt.Sprintf("%.4f", r.Recall100), fmt.Sprintf("%.4f", r.MRR10),
			fmt.Sprint(r.Queries), fmt.Sprintf("%.1f", r.QueriesPerSecond), fmt.Sprintf("%.2f", r.P50), fmt.Sprintf("%.2f", r.P99),
		}
	}
	fmt.Fprintf(e.Out, "%s: %d documents\n", report.Dataset, len(data.Documents))
	command.Table(e.Out, []string{"RUN", "NDCG@10", "RECALL@100", "MRR@10", "QUERIES", "QUERIES/S", "P50 MS", "P99 MS"}, rows)
	return nil
}
