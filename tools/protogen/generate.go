package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const (
	sources = "spec/backend/proto"
	output  = "spec/gen/xmtp"
	command = "// Command: go run ./tools/protogen (sources in " + sources + ")\n\n"
)

// plugins are run in this order over the same request. Their versions are
// those of go.mod.
var plugins = [...]struct{ name, parameter string }{
	{"protoc-gen-go", "module=assay"},
	{"protoc-gen-go-grpc", "module=assay"},
}

// generate returns what the generated files should hold, by path from root.
func generate(ctx context.Context, root string) (map[string][]byte, error) {
	names, err := protoFiles(filepath.Join(root, sources))
	if err != nil {
		return nil, err
	}
	compiler := protocompile.Compiler{
		Resolver:       &protocompile.SourceResolver{ImportPaths: []string{filepath.Join(root, sources)}},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	compiled, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("compile %s: %w", sources, err)
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: names}
	seen := make(map[string]bool)
	for _, file := range compiled {
		appendInOrder(request, file, seen)
	}
	out := make(map[string][]byte)
	for _, p := range plugins {
		request.Parameter = proto.String(p.parameter)
		if err := runPlugin(ctx, root, p.name, request, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// protoFiles lists the sources, in an order that does not depend on the machine.
func protoFiles(dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".proto" {
			return err
		}
		name, err := filepath.Rel(dir, path)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list sources: %w (run at the root of the module, or give --root)", err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no .proto file under %s", dir)
	}
	sort.Strings(names)
	return names, nil
}

// appendInOrder adds a file behind everything it imports, as plugins demand.
func appendInOrder(request *pluginpb.CodeGeneratorRequest, file protoreflect.FileDescriptor, seen map[string]bool) {
	if seen[file.Path()] {
		return
	}
	seen[file.Path()] = true
	for i := range file.Imports().Len() {
		appendInOrder(request, file.Imports().Get(i).FileDescriptor, seen)
	}
	request.ProtoFile = append(request.ProtoFile, withSource(file))
}

func withSource(file protoreflect.FileDescriptor) *descriptorpb.FileDescriptorProto {
	// The comments are in the source info, which a plain conversion leaves out.
	if with, ok := file.(interface {
		FileDescriptorProto() *descriptorpb.FileDescriptorProto
	}); ok {
		return with.FileDescriptorProto()
	}
	return protodesc.ToFileDescriptorProto(file)
}

// runPlugin runs one plugin through go tool and adds its files to out.
func runPlugin(ctx context.Context, root, name string, request *pluginpb.CodeGeneratorRequest, out map[string][]byte) error {
	in, err := proto.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode request for %s: %w", name, err)
	}
	cmd := exec.CommandContext(ctx, "go", "tool", name)
	cmd.Dir = root
	cmd.Stdin = bytes.NewReader(in)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run go tool %s: %w: %s", name, err, strings.TrimSpace(stderr.String()))
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(stdout.Bytes(), &response); err != nil {
		return fmt.Errorf("decode answer of %s: %w", name, err)
	}
	if response.Error != nil {
		return fmt.Errorf("%s: %s", name, response.GetError())
	}
	for _, f := range response.File {
		path := f.GetName()
		if !strings.HasPrefix(path, output+"/") {
			return fmt.Errorf("%s would write %s, which is outside %s: correct go_package in its source", name, path, output)
		}
		out[path] = append([]byte(command), f.GetContent()...)
	}
	return nil
}

// compare reports the first difference between files and what is on disk.
func compare(root string, files map[string][]byte) error {
	onDisk, err := generatedFiles(root)
	if err != nil {
		return err
	}
	for _, path := range onDisk {
		if _, ok := files[path]; !ok {
			return fmt.Errorf("%s has no source any more: run go run ./tools/protogen", path)
		}
	}
	for _, path := range sortedPaths(files) {
		have, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return fmt.Errorf("generated file is missing: %w: run go run ./tools/protogen", err)
		}
		if !bytes.Equal(have, files[path]) {
			return fmt.Errorf("%s differs from its source: run go run ./tools/protogen", path)
		}
	}
	return nil
}

// write replaces the generated files; those without a source go.
func write(root string, files map[string][]byte) error {
	onDisk, err := generatedFiles(root)
	if err != nil {
		return err
	}
	for _, path := range onDisk {
		if _, ok := files[path]; !ok {
			if err := os.Remove(filepath.Join(root, path)); err != nil {
				return err
			}
		}
	}
	for _, path := range sortedPaths(files) {
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(full, files[path], 0o644); err != nil {
			return err
		}
	}
	return nil
}

func generatedFiles(root string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(filepath.Join(root, output), func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".pb.go") {
			return err
		}
		rel, err := filepath.Rel(root, path)
		paths = append(paths, filepath.ToSlash(rel))
		return err
	})
	return paths, err
}

func sortedPaths(files map[string][]byte) []string {
	paths := make([]string, 0, len(files))
	for path := range files {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	return paths
}
