contract A {
    function outer() external {
        assembly {
            function inside() -> one { one := 1 }
            let two := inside()
        }
    }
    uint after_all;
}
