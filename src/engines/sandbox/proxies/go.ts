/** Compiled together with the action's source: the loop around its function. */
export const goProxy = (main: string): string => String.raw`package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
)

func coveAnswer(out io.Writer, text string) {
	io.WriteString(out, text+"\n")
}

func coveFault(out io.Writer, message string) {
	text, _ := json.Marshal(message)
	coveAnswer(out, "!"+string(text))
}

func coveRun(out io.Writer, line []byte) {
	defer func() {
		if fault := recover(); fault != nil {
			fmt.Fprintln(os.Stderr, "panic:", fault)
			coveFault(out, fmt.Sprint("An error has occurred: ", fault))
		}
	}()
	var message map[string]interface{}
	if err := json.Unmarshal(line, &message); err != nil {
		coveFault(out, "An error has occurred: "+err.Error())
		return
	}
	for key, value := range message {
		if text, ok := value.(string); ok && key != "value" {
			os.Setenv("__OW_"+strings.ToUpper(key), text)
		}
	}
	value, _ := json.Marshal(message["value"])
	result, err := coveCall(value)
	if err != nil {
		result = map[string]interface{}{"error": err.Error()}
	} else if result == nil {
		result = map[string]interface{}{}
	}
	text, err := json.Marshal(result)
	if err != nil {
		coveFault(out, "The action returned what is not JSON: "+err.Error())
		return
	}
	coveAnswer(out, string(text))
}

// The function may take a context and any one value, and return any one value and an error.
func coveCall(value []byte) (interface{}, error) {
	function := reflect.ValueOf(${main})
	shape := function.Type()
	var args []reflect.Value
	for i := 0; i < shape.NumIn(); i++ {
		if shape.In(i) == reflect.TypeOf((*context.Context)(nil)).Elem() {
			args = append(args, reflect.ValueOf(context.Background()))
			continue
		}
		arg := reflect.New(shape.In(i))
		if err := json.Unmarshal(value, arg.Interface()); err != nil {
			return nil, err
		}
		args = append(args, arg.Elem())
	}
	var result interface{}
	for _, part := range function.Call(args) {
		if part.Type() == reflect.TypeOf((*error)(nil)).Elem() {
			if !part.IsNil() {
				return nil, part.Interface().(error)
			}
		} else if part.Kind() != reflect.Map && part.Kind() != reflect.Ptr || !part.IsNil() {
			result = part.Interface()
		}
	}
	return result, nil
}

func main() {
	out := os.NewFile(3, "answers")
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	coveAnswer(out, "{\"ok\":true}")
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		coveRun(out, line)
	}
}
`
