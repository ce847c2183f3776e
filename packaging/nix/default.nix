# From a checkout: nix-build packaging/nix, then result/bin/workagent; or in a configuration: callPackage.
{ pkgs ? import <nixpkgs> { } }:

pkgs.rustPlatform.buildRustPackage {
  pname = "workagent";
  version = (builtins.fromTOML (builtins.readFile ../../Cargo.toml)).package.version;

  src = pkgs.lib.cleanSource ../..;
  cargoLock.lockFile = ../../Cargo.lock;

  nativeBuildInputs = [ pkgs.installShellFiles ];

  # The tests start programs by the paths of a usual system; `cargo test` runs them outside of the build.
  doCheck = false;

  postInstall = ''
    installManPage packaging/man/*
    installShellCompletion --bash --name workagent packaging/completions/workagent.bash
    installShellCompletion --fish packaging/completions/workagent.fish
    installShellCompletion --zsh packaging/completions/_workagent
    install -Dm644 packaging/systemd/workagent.service $out/share/systemd/user/workagent.service
    substituteInPlace $out/share/systemd/user/workagent.service --replace-fail /usr/bin/workagent $out/bin/workagent
  '';

  meta = {
    description = "Supervisor for a person's work agent: unit files, durable cases, reviewed replies";
    license = with pkgs.lib.licenses; [ mit asl20 ];
    mainProgram = "workagent";
  };
}
