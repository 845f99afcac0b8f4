package cli

import (
	"encoding/json"
	"fmt"

	"quarry/internal/cli/command"
	"quarry/internal/encode"
)

type modelCmd struct {
	Convert modelConvertCmd `cmd:"" help:"Convert a checkpoint folder into a packed int8 encoder."`
}

type modelConvertCmd struct {
	Dir     string `arg:"" help:"Checkpoint folder in the hub's layout: config.json, model.safetensors, vocab.txt." type:"existingdir"`
	Out     string `short:"o" help:"File to write." default:"encoder.qenc" type:"path"`
	Source  string `help:"Where the checkpoint was published, with revision; kept in the file."`
	Licence string `help:"Its licence; kept in the file."`
	JSON    bool   `help:"Print JSON." name:"json"`
}

func (modelConvertCmd) Help() string {
	return "Example: quarry model convert ./all-MiniLM-L6-v2 -o minilm.qenc --licence apache-2.0"
}

func (c *modelConvertCmd) Run(e *command.Env) error {
	info, err := encode.Convert(c.Dir, c.Out, encode.Meta{Source: c.Source, Licence: c.Licence})
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(e.Out).Encode(info)
	}
	fmt.Fprintf(e.Out, "wrote %s: %d bytes, sha256 %s\n", info.Path, info.Bytes, info.SHA256)
	return nil
}
