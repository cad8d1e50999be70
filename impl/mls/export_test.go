package mls

// GoodPackage gives the examples a key package that is valid from 1,000,000 to 2,000,000.
func GoodPackage() []byte { return goodPackage().bytes() }
