module example.com/custom-transport

go 1.26.3

require railyard v0.0.0

require (
	google.golang.org/protobuf v1.36.12 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)

replace railyard => ../..
