package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

const onnxPrefix = "ONNX Runtime "

// onnx is the Python process that runs ONNX Runtime.
type onnx struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
	work string
}

// startONNX starts ONNX Runtime in Python. Its error names what is missing.
func (b *bench) startONNX() (*onnx, error) {
	if b.checkpoint == "" {
		return nil, fmt.Errorf("skipped: ONNX Runtime, QUARRY_CHECKPOINT does not name the checkpoint folder")
	}
	work, err := os.MkdirTemp("", "quarry-bench-*")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(b.python, b.script, b.checkpoint, work)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	rt := &onnx{cmd, in, bufio.NewScanner(pipe), work}
	rt.out.Buffer(nil, 1<<20)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("skipped: ONNX Runtime, %w", err)
	}
	if !rt.out.Scan() || !strings.HasPrefix(rt.out.Text(), "{") {
		output := rt.out.Text()
		rt.stop()
		return nil, fmt.Errorf("skipped: ONNX Runtime, Python printed %q", output)
	}
	fmt.Println(rt.out.Text())
	return rt, nil
}

func (o *onnx) stop() {
	o.in.Close()
	_ = o.cmd.Wait() // its output has told whether it worked
	os.RemoveAll(o.work)
}

func (o *onnx) engine(model string) engine {
	return engine{onnxPrefix + model, false, func(ids []int32, repeat int) ([]float64, []float32, error) {
		request, err := json.Marshal(map[string]any{"model": model, "ids": ids, "repeat": repeat})
		if err != nil {
			return nil, nil, err
		}
		if _, err := o.in.Write(append(request, '\n')); err != nil {
			return nil, nil, err
		}
		if !o.out.Scan() {
			return nil, nil, fmt.Errorf("ONNX Runtime stopped: %w", o.out.Err())
		}
		var answer struct {
			Seconds []float64
			Vector  []float32
		}
		if err := json.Unmarshal(o.out.Bytes(), &answer); err != nil {
			return nil, nil, err
		}
		return answer.Seconds, answer.Vector, nil
	}}
}
