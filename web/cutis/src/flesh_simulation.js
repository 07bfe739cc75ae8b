/*
 * flesh_simulation.js: the simulation of a Flesh, on its own thread or in a worker. It knows arrays only, nothing of three.js.
 */
import { Character } from "./character.js";
import { Model, State } from "./model.js";
import { AuthoredNormals } from "./normals.js";

export class FleshSimulation {
  /**
   * given: { mesh, props, normals, options }: the arguments of Character.from and of Character.withProps, the file's normals at
   * rest (vertices x 3, or null), and the options of Model.
   */
  constructor(cutis, { mesh, props, normals, options }) {
    this.character = Character.from(cutis, mesh);
    if (props.length) {
      const plain = this.character;
      this.character = plain.withProps(props);
      plain.dispose();
    }
    this.model = new Model(this.character, options);
    this.state = new State(this.model);
    this.propCount = props.length;
    if (normals) {
      const { positions, triangles, vertexPoints } = this.character;
      this.normals = new AuthoredNormals({ positions: positions.slice(), normals, triangles: triangles.slice(),
        points: vertexPoints.slice() });
    }
  }
  get info() {
    return { vertexCount: this.state.vertexCount, jointCount: this.character.jointCount, model: this.model.info,
      propRoles: this.character.props.map(({ role }) => role) };
  }
  reset(joints) {
    this.state.reset(joints);
  }
  step(dt, input) {
    this.state.step(dt, input);
  }
  /** Positions and normals into two arrays (vertices x 3). */
  read(positions, normals) {
    positions.set(this.state.positions);
    if (this.normals) this.normals.apply(positions, normals);
    else normals.set(this.state.normals);
  }
  /** Where the props are: a 3 x 4 matrix each. */
  propPlaces() {
    return Array.from({ length: this.propCount }, (_, i) => this.state.prop(i).transform);
  }
  dispose() {
    this.state.dispose();
    this.model.dispose();
    this.character.dispose();
  }
}
